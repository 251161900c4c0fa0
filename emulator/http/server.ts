import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/** The server can't listen, for example because the port is in use. */
export class ListenError extends Error {
  override name = "ListenError";
  constructor(
    message: string,
    readonly isPortInUse: boolean,
  ) {
    super(message);
  }
}

/** The HTTP server of one emulator, whose `close` also ends the requests and waits that are under way. */
export class EmulatorServer {
  readonly #server;
  readonly #closing = new AbortController();

  /** `onError` is called with errors of `handle`, which are defects of the emulator. */
  constructor(
    handle: (message: IncomingMessage, response: ServerResponse) => Promise<void>,
    onError: (error: unknown) => void,
  ) {
    this.#server = createServer((message, response) => {
      handle(message, response).catch((error: unknown) => {
        // It is no defect that a request fails when the emulator is closed.
        if (this.#closing.signal.aborted) return;
        onError(error);
        response.destroy();
      });
    });
    // Callers that are reset or go away in the middle of a request are normal here.
    this.#server.on("clientError", (_error, socket) => socket.destroy());
  }

  /** Starts to listen, for `port` 0 on any free port. Resolves with the port. Rejects with a ListenError. */
  async listen(host: string, port: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (error: NodeJS.ErrnoException) => reject(listenError(error, `${host}:${port}`));
    this.#server.once("error", fail).listen(port, host, resolve);
    await promise;
    this.#server.off("error", fail);
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  /** Waits in real time. Rejects when the emulator is closed. */
  readonly sleep = async (milliseconds: number): Promise<void> => {
    await wait(milliseconds, undefined, { signal: this.#closing.signal });
  };
}

function listenError({ code, message }: NodeJS.ErrnoException, address: string): ListenError {
  if (code === "EADDRINUSE") return new ListenError(`${address} is already in use`, true);
  const problem =
    code === "EACCES"
      ? `this user may not listen on ${address}`
      : `cannot listen on ${address}: ${message}`;
  return new ListenError(problem, false);
}
