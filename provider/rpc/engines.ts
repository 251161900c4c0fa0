/**
 * Tells apart the engines that use one process of the plugin. In attach mode (PULUMI_DEBUG_PROVIDERS), runs come one after the
 * other, and not all of them end with a Cancel. During a run, a host with another address may attach, and only read the
 * schema. So a run begins with the first call that needs the provider, and the connection of a call says whose it is.
 */
import { OperationFailed } from "../errors";

/** A connection, as far as its end is concerned. */
export interface EngineConnection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  once(event: "close", listener: () => void): unknown;
}

/** A call, as far as its connection is concerned. */
export interface Caller {
  /** Returns the remote address of the connection. */
  getPeer(): string;
}

/** The open connections, and the engine that the process serves. An engine is known by the address of its log. */
export class Engines {
  /** By remote address. The engine is empty until the Handshake. */
  readonly #connections = new Map<string, { engine: string }>();
  #served = "";
  /** Whether an engine was taken for gone that had not canceled its run. */
  #hasLostOne = false;

  /** Notes a new connection. */
  connected(socket: EngineConnection): void {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    const connection = { engine: "" };
    this.#connections.set(peer, connection);
    socket.once("close", () => {
      if (this.#connections.get(peer) === connection) this.#connections.delete(peer);
    });
  }

  /** Notes the engine that is at the other end of the connection. */
  attached(caller: Caller, engine: string): void {
    const connection = this.#connections.get(caller.getPeer());
    if (connection && engine !== "") connection.engine = engine;
  }

  /** The engine that the process serves: the last one that has used the provider. Empty if none has yet. */
  get served(): string {
    return this.#served;
  }

  /** Whether what the caller does concerns the engine that the process serves: it is that engine, or not known. */
  isServed(caller: Caller): boolean {
    const engine = this.#engineOf(caller);
    return engine === "" || this.#served === "" || engine === this.#served;
  }

  /**
   * Serves the caller's engine from now on. Returns whether that is another one than before.
   *
   * @param begins whether engines begin a run with this call
   * @param isOver whether the run of the engine served so far was canceled
   * @throws OperationFailed if a run that is not the caller's may be under way
   */
  serve(caller: Caller, begins: boolean, isOver: boolean): boolean {
    const engine = this.#engineOf(caller);
    if (engine === this.#served) return false;
    if (engine === "") {
      // An engine closes a connection that it has not used for half an hour, and makes its next call on one without a Handshake.
      if (this.#hasLostOne) throw new OperationFailed(unknownCaller);
      return false;
    }
    if (this.#served !== "") {
      const isConnected = [...this.#connections.values()].some(
        (connection) => connection.engine === this.#served,
      );
      if (!begins || (isConnected && !isOver)) throw new OperationFailed(otherRun);
      this.#hasLostOne ||= !isOver;
    }
    this.#served = engine;
    return true;
  }

  #engineOf(caller: Caller): string {
    return this.#connections.get(caller.getPeer())?.engine ?? "";
  }
}

const otherRun =
  "this process already serves another run of Pulumi, and serves one after the other. Nothing was changed. Run again once that run has ended, or without PULUMI_DEBUG_PROVIDERS";
const unknownCaller =
  "this process has lost the connection to a run of Pulumi, and can't tell whether this call comes from that run. Nothing was changed. Start the plugin again, and then the run";
