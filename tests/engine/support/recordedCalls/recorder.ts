/**
 * A proxy between the engine and the plugin. It starts the plugin, forwards every call and answer unchanged, and
 * writes a line of JSON for each of them to a log. Tests install it at the place where the engine looks for the
 * plugin.
 *
 *     node start.js PLUGIN LOG [the engine's arguments]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import {
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describeAnswer, describeCall, type LogLine } from "./callLog";

const [plugin = "", log = "", ...args] = process.argv.slice(2);
/**
 * How long a failed answer is held back. When an engine dies, its connection and the plugin's stdin close at the
 * same time, and the closed stdin makes the plugin fail its calls. Because of the delay, this process notices the
 * closed connection first, and logs those answers as lost.
 */
const failureDelayMs = 50;

/** The connections of engines. */
const open = new Set<ServerHttp2Session>();
/** The number of calls so far. */
let calls = 0;

function write(line: Omit<LogLine, "process">): void {
  appendFileSync(log, `${JSON.stringify({ process: process.pid, ...line })}\n`);
}

// The engine signals the whole process group. The plugin gets the signal, too, and at its end this process ends.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);

const child = spawn(plugin, args, { stdio: ["inherit", "pipe", "inherit"] });
write({ event: "begins" });
child.on("exit", (code) => {
  write({ event: "ends" });
  // The last answers may not have reached the engine yet, so this process stays alive a little longer.
  const answersGone = Promise.all([...open].map((outer) => once(outer, "close")));
  void Promise.race([answersGone, sleep(200)]).finally(() => process.exit(code ?? 1));
});

child.stdout.setEncoding("utf8").once("data", (port: string) => serve(port.trim()));

function serve(port: string): void {
  const server = createServer({ settings: { enablePush: false } });
  server.on("session", (outer) => {
    // Each connection to the proxy has its own connection to the plugin, so that each side sees the other one close.
    const inner = connect(`http://127.0.0.1:${port}`);
    open.add(outer);
    outer
      .on("error", () => undefined)
      .on("close", () => {
        open.delete(outer);
        inner.destroy();
      });
    inner.on("error", () => undefined).on("close", () => outer.close());
    outer.on("stream", (stream, headers) => {
      forward(stream, headers, (requestHeaders) =>
        inner.request(requestHeaders, { endStream: false }),
      );
    });
  });
  server.listen(0, "127.0.0.1", () => {
    process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
  });
}

type Request = ReturnType<ReturnType<typeof connect>["request"]>;

/** Forwards one call, and logs it and its answer. `begin` begins the same call to the plugin. */
function forward(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  begin: (headers: IncomingHttpHeaders) => Request,
): void {
  const call = ++calls;
  const method = String(headers[":path"]).replace("/pulumirpc.ResourceProvider/", "");
  const requestChunks: Buffer[] = [];
  const answerChunks: Buffer[] = [];
  const request = begin(headers);
  let isLogged = false;
  let hasFailed = false;

  stream.on("data", (chunk: Buffer) => requestChunks.push(chunk));
  stream.on("end", () => {
    write({ event: "call", call, ...describeCall(method, firstMessage(requestChunks)) });
    request.end();
  });
  stream.on("data", (chunk: Buffer) => request.write(chunk));
  stream.on("error", () => undefined);
  stream.on("close", () => {
    if (isLogged) return;
    request.close(constants.NGHTTP2_CANCEL);
    write({ event: "answer", call, answer: "lost" });
  });

  const end = (trailers: IncomingHttpHeaders): void => {
    if (isLogged || stream.destroyed) return;
    isLogged = true;
    write({
      event: "answer",
      call,
      ...describeAnswer(method, firstMessage(answerChunks), trailers),
    });
  };
  let trailers: IncomingHttpHeaders = {};
  request.on("response", (head, flags) => {
    if (flags & constants.NGHTTP2_FLAG_END_STREAM) {
      hasFailed = true;
      void sleep(failureDelayMs).then(() => {
        end(head);
        if (!stream.destroyed) stream.respond(head, { endStream: true });
      });
    } else if (!stream.destroyed) {
      stream.respond(head, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    }
  });
  request.on("data", (chunk: Buffer) => {
    answerChunks.push(chunk);
    if (!stream.destroyed) stream.write(chunk);
  });
  request.on("trailers", (received) => {
    trailers = received;
    end(received);
  });
  request.on("end", () => stream.end());
  request.on("error", () => stream.close(constants.NGHTTP2_CANCEL));
  request.on("close", () => {
    if (!isLogged && !hasFailed) stream.close(constants.NGHTTP2_CANCEL);
  });
}

/** Returns the first message of a stream, without the five bytes of gRPC framing before it. */
function firstMessage(chunks: readonly Buffer[]): Buffer {
  const all = Buffer.concat(chunks);
  return all.subarray(5, 5 + (all.length < 5 ? 0 : all.readUInt32BE(1)));
}
