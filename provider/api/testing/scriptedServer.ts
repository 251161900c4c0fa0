/**
 * A server that knows beforehand which requests it gets, in which order, and does with each what its
 * script says, over real sockets. A request that is not expected, or does not come, fails the test.
 */
import * as net from "node:net";
import * as tls from "node:tls";

export interface SeenRequest {
  method: string;
  /** Path and query. */
  target: string;
  headers: Record<string, string>;
  body: string;
  /** Counts connections from 1: two requests with the same number came over the same one. */
  connection: number;
}

/** What is done with one request once it was read as a whole. */
export type Reaction = (socket: net.Socket, request: SeenRequest) => void;

export interface Step {
  /** Like "GET /v2/instances?limit=1"; "connect" is a connection that is reset before it is read. */
  expect: string;
  react: Reaction;
}

export class ScriptedServer {
  readonly seen: SeenRequest[] = [];
  connections = 0;
  readonly #server: net.Server;
  readonly #script: Step[];
  readonly #open = new Set<net.Socket>();
  readonly #wrong: string[] = [];
  #arrived = Promise.withResolvers<void>();

  private constructor(script: Step[], certificate?: tls.TlsOptions) {
    this.#script = [...script];
    const accept = (socket: net.Socket) => this.#accept(socket);
    this.#server = certificate ? tls.createServer(certificate, accept) : net.createServer(accept);
    this.#server.on("tlsClientError", () => undefined);
  }

  static async start(script: Step[], certificate?: tls.TlsOptions): Promise<ScriptedServer> {
    const server = new ScriptedServer(script, certificate);
    await new Promise<void>((listening) => server.#server.listen(0, "127.0.0.1", listening));
    // A test that fails before it stops its server must not keep Jest from ending.
    server.#server.unref();
    return server;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** The base address, for plain http. */
  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}/v2`;
  }

  /** Resolves once `count` requests were read as a whole. */
  async received(count: number): Promise<void> {
    while (this.seen.length < count) await this.#arrived.promise;
  }

  /** Stops, and throws when the requests were not those of the script. */
  async done(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((closed) => this.#server.close(closed));
    const missing = this.#script.map(({ expect }) => `missing: ${expect}`);
    const problems = [...this.#wrong, ...missing];
    if (problems.length) throw new Error(problems.join("; "));
  }

  #accept(socket: net.Socket): void {
    const connection = ++this.connections;
    this.#open.add(socket.unref());
    socket.on("error", () => undefined).on("close", () => this.#open.delete(socket));
    if (this.#script[0]?.expect === "connect")
      return void this.#script.shift()?.react(socket, none);
    let received: Buffer = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const request = parse(received, connection);
      if (!request) return;
      received = Buffer.alloc(0);
      this.#react(socket, request);
    });
  }

  #react(socket: net.Socket, request: SeenRequest): void {
    this.seen.push(request);
    const arrived = `${request.method} ${request.target}`;
    const step = this.#script.shift();
    if (step?.expect === arrived) step.react(socket, request);
    else {
      this.#wrong.push(`${arrived} came instead of ${step?.expect ?? "nothing"}`);
      answer(418, { error: { code: "unexpected" } })(socket, request);
    }
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers<void>();
  }
}

const none: SeenRequest = { method: "", target: "", headers: {}, body: "", connection: 0 };

function parse(received: Buffer, connection: number): SeenRequest | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = received.subarray(0, end).toString("latin1").split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
  );
  const body = received.subarray(end + 4);
  if (body.length < Number(headers["content-length"] ?? 0)) return undefined;
  const [method = "", target = ""] = first.split(" ");
  return { method, target, headers, body: body.toString(), connection };
}

function head(status: number, headers: Record<string, string | number>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Scripted\r\n${lines.join("")}\r\n`;
}

/** Answers; a body that is no string is sent as JSON. */
export const answer =
  (status: number, body: unknown = "", headers: Record<string, string> = {}): Reaction =>
  (socket) => {
    const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
    socket.write(head(status, { "content-length": bytes.length, ...headers }));
    socket.write(bytes);
  };

export const redirect = (status: number, location: string): Reaction =>
  answer(status, "", { location });

/** RST, which the other side sees as ECONNRESET. */
export const reset: Reaction = (socket) => void socket.resetAndDestroy();

/** FIN without a word. */
export const close: Reaction = (socket) => void socket.end();

/** Never answers. */
export const hang: Reaction = () => undefined;

/** Promises `length` bytes, sends `part` of them and goes away. */
export const cut =
  (status: number, part: string, length = 10_000): Reaction =>
  (socket) => {
    socket.end(head(status, { "content-length": length }) + part);
  };

/** A byte now and then, without end. */
export const drip =
  (status: number): Reaction =>
  (socket) => {
    socket.write(head(status, { "content-length": 1_000_000 }));
    const timer = setInterval(() => socket.write(" "), 5);
    socket.on("close", () => clearInterval(timer));
  };

/** A body of `MiB` mebibytes, sent as fast as it is taken. */
export const flood =
  (status: number, MiB: number): Reaction =>
  (socket) => {
    const chunk = Buffer.alloc(1024 * 1024, "x");
    socket.write(head(status, { "content-length": MiB * chunk.length }));
    let left = MiB;
    const more = () => {
      if (left-- > 0 && !socket.destroyed) socket.write(chunk, more);
    };
    more();
  };

/** Bytes as they are. */
export const raw =
  (bytes: string): Reaction =>
  (socket) => {
    socket.end(bytes);
  };
