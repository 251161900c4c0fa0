/** A server for tests over real sockets. Its script lists the expected requests and the reaction to each of them. */
import * as net from "node:net";
import * as tls from "node:tls";

export interface SeenRequest {
  method: string;
  target: string;
  headers: Record<string, string>;
  body: string;
  /** The number of the connection, from 1. */
  connection: number;
}

/** What the server does after it has received a whole request. */
export type Reaction = (socket: net.Socket, request: SeenRequest) => void;

/** A step of a script. */
export interface Step {
  /** The request, for example "GET /v2/instances?limit=1". */
  expect: string;
  react: Reaction;
}

export class ScriptedServer implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  connections = 0;
  readonly #server: net.Server;
  readonly #script: Step[];
  readonly #sockets = new Set<net.Socket>();
  readonly #unexpected: string[] = [];
  /** Resolves when the next request arrives. */
  #arrived = Promise.withResolvers<void>();

  private constructor(script: Step[], certificate?: tls.TlsOptions) {
    this.#script = [...script];
    const accept = (socket: net.Socket) => this.#accept(socket);
    this.#server = certificate ? tls.createServer(certificate, accept) : net.createServer(accept);
    this.#server.on("tlsClientError", () => undefined);
  }

  /** Starts a server, for TLS if there is a certificate. */
  static async start(script: Step[], certificate?: tls.TlsOptions): Promise<ScriptedServer> {
    const server = new ScriptedServer(script, certificate);
    await new Promise<void>((listening) => server.#server.listen(0, "127.0.0.1", listening));
    // A test that hangs must not prevent Jest from ending.
    server.#server.unref();
    return server;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** The base address for plain http. */
  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}/v2`;
  }

  /** Resolves once the server has received `count` whole requests. */
  async received(count: number): Promise<void> {
    while (this.seen.length < count) await this.#arrived.promise;
  }

  /**
   * Stops the server.
   *
   * @throws Error if the requests were not those of the script
   */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((closed) => this.#server.close(closed));
    const missing = this.#script.map(({ expect }) => `missing: ${expect}`);
    const problems = [...this.#unexpected, ...missing];
    if (problems.length) throw new Error(problems.join("; "));
  }

  #accept(socket: net.Socket): void {
    const connection = ++this.connections;
    this.#sockets.add(socket.unref());
    socket.on("error", () => undefined).on("close", () => this.#sockets.delete(socket));
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
      this.#unexpected.push(`${arrived} came instead of ${step?.expect ?? "nothing"}`);
      answer(418, { error: { code: "unexpected" } })(socket, request);
    }
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers<void>();
  }
}

/** Returns undefined as long as the request is not complete. */
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

/** Sends a response. A body that is neither text nor bytes is sent as JSON. */
export const answer =
  (status: number, body: unknown = "", headers: Record<string, string> = {}): Reaction =>
  (socket) => {
    const isSent = typeof body === "string" || body instanceof Uint8Array;
    const bytes = Buffer.from(isSent ? body : JSON.stringify(body));
    socket.write(head(status, { "content-length": bytes.length, ...headers }));
    socket.write(bytes);
  };

export const redirect = (status: number, location: string): Reaction =>
  answer(status, "", { location });

/** Resets the connection with RST, which the client sees as ECONNRESET. */
export const reset: Reaction = (socket) => void socket.resetAndDestroy();

/** Closes the connection with FIN, without a response. */
export const close: Reaction = (socket) => void socket.end();

export const hang: Reaction = () => undefined;

/** Announces a body of `length` bytes, sends only `part` of it, and closes the connection. */
export const cut =
  (status: number, part: string, length = 10_000): Reaction =>
  (socket) => {
    socket.end(head(status, { "content-length": length }) + part);
  };

/** Sends a body slowly, one byte every few milliseconds. */
export const drip =
  (status: number): Reaction =>
  (socket) => {
    socket.write(head(status, { "content-length": 1_000_000 }));
    const timer = setInterval(() => socket.write(" "), 5);
    socket.on("close", () => clearInterval(timer));
  };

/** Sends a body of `MiB` mebibytes as fast as the client reads it. */
export const flood =
  (status: number, MiB: number): Reaction =>
  (socket) => {
    const chunk = Buffer.alloc(1024 * 1024, "x");
    socket.write(head(status, { "content-length": MiB * chunk.length }));
    let chunksLeft = MiB;
    const sendChunk = () => {
      if (chunksLeft-- > 0 && !socket.destroyed) socket.write(chunk, sendChunk);
    };
    sendChunk();
  };

/** Sends these bytes and closes the connection. */
export const raw =
  (bytes: string): Reaction =>
  (socket) => {
    socket.end(bytes);
  };
