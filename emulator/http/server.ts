/**
 * The HTTP server of one emulator. It can refuse connections for a while and then accept them again. index.ts uses
 * it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import * as net from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/** The server can't listen: for example, the port is in use, or this user may not listen on it. */
export class ListenError extends Error {
  override name = "ListenError";
}

/** A server that can refuse connections, and accept them again on the same port. */
export class EmulatorServer {
  readonly #server;
  readonly #host: string;
  #port: number;
  readonly #closing = new AbortController();
  /** Keeps the port while the emulator refuses connections. */
  #reservation: PortReservation | undefined;
  /** The `listen` that is under way. */
  #starting: Promise<number> | undefined;

  /**
   * With `port` 0, the server listens on any free port. `onError` is called with errors of `handle`, which are
   * defects of the emulator.
   */
  constructor(
    handle: (message: IncomingMessage, response: ServerResponse) => Promise<void>,
    host: string,
    port: number,
    onError: (error: unknown) => void,
  ) {
    this.#host = host;
    this.#port = port;
    this.#server = createServer((message, response) => {
      handle(message, response).catch((error: unknown) => {
        // A request that is still running when the emulator is closed fails. That is no defect.
        if (this.#closing.signal.aborted) return;
        onError(error);
        response.destroy();
      });
    });
    // Callers that are reset or go away in the middle of a request are normal here.
    this.#server.on("clientError", (_error, socket) => socket.destroy());
  }

  /** Starts to listen, and resolves with the port. Rejects with a ListenError. Concurrent calls share the result. */
  async listen(): Promise<number> {
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined));
    return this.#starting;
  }

  async #start(): Promise<number> {
    this.#releasePort();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (error: NodeJS.ErrnoException) => {
      reject(new ListenError(explainListenError(error, `${this.#host}:${String(this.#port)}`)));
    };
    this.#server.once("error", fail).listen(this.#port, this.#host, resolve);
    await promise;
    this.#server.off("error", fail);
    this.#port = (this.#server.address() as net.AddressInfo).port;
    return this.#port;
  }

  get isListening(): boolean {
    return this.#server.listening;
  }

  /** Refuses new connections and resets the open ones, until `listen` is called again. */
  async stop(): Promise<void> {
    await this.#starting?.catch(() => undefined);
    if (!this.#server.listening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => {
      resolve();
    });
    this.#reservation = new PortReservation(this.#host, this.#port);
    this.#server.closeAllConnections();
    await promise;
  }

  /** Refuses new connections until `listen` is called again. Open connections stay open. */
  stopListening(): void {
    if (!this.#server.listening) return;
    // The `close` of node:http would also close idle connections. The `close` of node:net does not.
    net.Server.prototype.close.call(this.#server);
    this.#reservation = new PortReservation(this.#host, this.#port);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#server.closeAllConnections();
    await this.stop();
    this.#releasePort();
  }

  #releasePort(): void {
    this.#reservation?.[Symbol.dispose]();
    this.#reservation = undefined;
  }

  /** Waits in real time. Rejects when the emulator is closed. */
  readonly sleep = async (milliseconds: number): Promise<void> => {
    await wait(milliseconds, undefined, { signal: this.#closing.signal });
  };
}

/**
 * Keeps the system from giving a port to another process while the emulator refuses connections on it. The
 * reservation is a connection *from* the port to a server that exists only for this purpose: the system then refuses
 * connections to the port, and does not choose the port for a process that asks for any free one.
 */
class PortReservation implements Disposable {
  readonly #peer = net.createServer((socket) => socket.on("error", () => undefined).unref());
  #connection: net.Socket | undefined;

  constructor(host: string, localPort: number) {
    this.#peer.unref().listen(0, host, () => {
      const peer = this.#peer.address() as net.AddressInfo | null;
      // Null if the reservation was released in the meantime.
      if (!peer) return;
      this.#connection = net
        .connect({ host, port: peer.port, localAddress: host, localPort })
        // The port can't be reserved. If another process takes the port, the next `listen` reports that.
        .on("error", () => undefined)
        .unref();
    });
  }

  /** Resets the connection, so that the port is free at once. */
  [Symbol.dispose](): void {
    this.#connection?.resetAndDestroy();
    this.#peer.close();
  }
}

function explainListenError(error: NodeJS.ErrnoException, address: string): string {
  if (error.code === "EADDRINUSE")
    return `${address} is already in use; choose another port (--port), or 0 for any free one`;
  if (error.code === "EACCES") return `this user may not listen on ${address}`;
  return `cannot listen on ${address}: ${error.message}`;
}
