/** The HTTP server of one emulator: listening, refusing, closing. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Server, type AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { HeldPort } from "./heldPort";

export type Listener = (message: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The port is somebody else's, or may not be used. */
export class ListenError extends Error {
  override name = "ListenError";
}

export class EmulatorServer {
  private readonly server;
  private readonly closing = new AbortController();
  private held: HeldPort | undefined;
  private beginning: Promise<number> | undefined;

  constructor(
    listener: Listener,
    private readonly host: string,
    private port: number,
    onError: (error: unknown) => void,
  ) {
    this.server = createServer((message, response) => {
      listener(message, response).catch((error: unknown) => {
        // What was still under way when the emulator was closed is nobody's mistake.
        if (this.closing.signal.aborted) return;
        onError(error);
        response.destroy();
      });
    });
    // A caller that is reset or goes away mid-request is everyday life here.
    this.server.on("clientError", (_error, socket) => socket.destroy());
  }

  /** Resolves with the port; rejects with a ListenError. Who asks meanwhile waits for the same. */
  async listen(): Promise<number> {
    this.beginning ??= this.begin().finally(() => (this.beginning = undefined));
    return this.beginning;
  }

  private async begin(): Promise<number> {
    this.letGo();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (error: NodeJS.ErrnoException) => {
      reject(new ListenError(explain(error, this.host, this.port)));
    };
    this.server.once("error", fail).listen(this.port, this.host, resolve);
    await promise;
    this.server.off("error", fail);
    this.port = (this.server.address() as AddressInfo).port;
    return this.port;
  }

  get isListening(): boolean {
    return this.server.listening;
  }

  /** New connections are refused and the present ones reset, until `listen` is called again. */
  async stop(): Promise<void> {
    await this.beginning?.catch(() => undefined);
    if (!this.server.listening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.server.close(() => {
      resolve();
    });
    this.hold();
    this.server.closeAllConnections();
    await promise;
  }

  /** New connections are refused until `listen` is called again; the present ones go on. */
  stopListening(): void {
    if (!this.server.listening) return;
    // What node:http does on top of it is to drop those that are idle.
    Server.prototype.close.call(this.server);
    this.hold();
  }

  async close(): Promise<void> {
    this.closing.abort();
    this.server.closeAllConnections();
    await this.stop();
    this.letGo();
  }

  private hold(): void {
    this.held = new HeldPort(this.host, this.port);
  }

  private letGo(): void {
    this.held?.[Symbol.dispose]();
    this.held = undefined;
  }

  /** Real time; rejects when the emulator is closed. */
  readonly sleep = async (milliseconds: number): Promise<void> => {
    await wait(milliseconds, undefined, { signal: this.closing.signal });
  };
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): string {
  const where = `${host}:${String(port)}`;
  if (error.code === "EADDRINUSE")
    return `${where} is already in use; choose another port, or 0 for any free one`;
  if (error.code === "EACCES") return `this user may not listen on ${where}`;
  return `cannot listen on ${where}: ${error.message}`;
}
