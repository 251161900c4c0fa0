/**
 * `relay.ts PLUGIN [ADDRESS]`: a plugin that relays each call to another one, and logs it as the engine does. `pulumi do` without
 * a stack writes no log of its own. PULUMI_DEBUG_GRPC names the file.
 */
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import * as grpc from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";

/** A request or a response, with methods such as `getUrn`. */
type Message = Record<string, (() => unknown) | undefined>;
type Method = grpc.MethodDefinition<Message, Message>;

/** What the engine's log has of requests and responses, as far as callLog.ts reads it. */
const fields = {
  urn: "getUrn",
  id: "getId",
  preview: "getPreview",
  inputs: "getInputs",
  oldInputs: "getOldInputs",
  olds: "getOlds",
  news: "getNews",
  properties: "getProperties",
  ignoreChanges: "getIgnorechangesList",
  failures: "getFailuresList",
  replaces: "getReplacesList",
} as const;

const diffSome = 2;

function described(message: Message): object {
  const values = Object.entries(fields).map(([name, get]) => {
    const value = message[get]?.();
    const struct = value as { toJavaScript?: () => object } | undefined;
    return [name, struct?.toJavaScript?.() ?? value];
  });
  const changes = message["getChanges"]?.() === diffSome ? "DIFF_SOME" : undefined;
  return { ...(Object.fromEntries(values) as object), changes };
}

function log(method: Method, progress: string, request: Message, answer: object = {}): void {
  const { path } = method;
  const call = { method: path, metadata: { kind: "resource" }, progress };
  const line = JSON.stringify({ ...call, request: described(request), ...answer });
  appendFileSync(process.env["PULUMI_DEBUG_GRPC"] ?? "", `${line}\n`);
}

/** Relays a call with one answer, or with a stream of answers, of which the log has nothing. */
function relayed(client: grpc.Client, method: Method): grpc.UntypedHandleCall {
  const { path, requestSerialize, responseDeserialize, responseStream } = method;
  const call = [path, requestSerialize, responseDeserialize] as const;
  if (responseStream) {
    return (engine: grpc.ServerWritableStream<Message, Message>) => {
      log(method, "request_started", engine.request);
      client
        .makeServerStreamRequest(...call, engine.request)
        .on("data", (answer: Message) => engine.write(answer))
        .on("error", (error) => engine.emit("error", error))
        .on("end", () => {
          log(method, "response_completed", engine.request);
          engine.end();
        });
    };
  }
  return ({ request }: { request: Message }, answer: grpc.sendUnaryData<Message>) => {
    log(method, "request_started", request);
    client.makeUnaryRequest(...call, request, (error, response) => {
      const isUnknown = error?.code === grpc.status.UNKNOWN;
      const errors = error && [`code = ${isUnknown ? "Unknown" : "Other"}`];
      const reply = { response: response && described(response), errors: errors ?? undefined };
      log(method, "response_completed", request, reply);
      answer(error, response);
    });
  };
}

const [path = "", ...args] = process.argv.slice(2);
const plugin = spawn(path, args, { stdio: ["inherit", "pipe", "inherit"] });
plugin.on("exit", (code) => process.exit(code ?? 1));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => plugin.kill(signal));
plugin.stdout.once("data", (port: Buffer) => {
  const address = `127.0.0.1:${port.toString().trim()}`;
  const client = new grpc.Client(address, grpc.credentials.createInsecure());
  const methods = ResourceProviderService as unknown as Record<string, Method>;
  const handlers = Object.entries(methods).map(
    ([name, method]) => [name, relayed(client, method)] as const,
  );
  const server = new grpc.Server();
  server.addService(methods, Object.fromEntries(handlers));
  server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (_, own) =>
    console.log(own),
  );
});
