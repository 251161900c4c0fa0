/** The gRPC server of the plugin. It keeps track of the running calls, and loads the provider when needed. */
import {
  Server,
  ServerCredentials,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import type { PluginPort } from "../process/pluginPort";
import type { CancelReason, Provider } from "../pulumi/calls";
import type { EngineLog } from "./engineLog";
import { describeError, toCallFailure } from "./grpcErrors";

/** What a server is made with. */
export interface ServerDependencies {
  /** Called once, when needed. Half of the plugins that an engine starts are only asked for the schema. */
  loadProvider: () => Promise<Provider>;
  /** Reads the package's schema, as JSON. */
  schema: () => Promise<string>;
  log: EngineLog;
  /** The semantic version of the plugin. */
  version: string;
}

/**
 * Serves a `Provider` as the gRPC service `pulumirpc.ResourceProvider`. In attach mode (PULUMI_DEBUG_PROVIDERS), one run comes
 * after the other. The address of an engine's log tells the runs apart, and the connections are not told apart.
 */
export class ProviderServer {
  readonly #server: Server;
  readonly #dependencies: ServerDependencies;
  #port: PluginPort | undefined;
  #provider: Promise<Provider> | undefined;
  /** The engine whose run this is. Empty before the first run, and once the run was canceled. */
  #served = "";
  /** Who made the last Handshake. A host that only reads the schema makes a Handshake, too, even in the middle of a run. */
  #attached = "";
  readonly #running = new Set<Promise<void>>();

  constructor(dependencies: ServerDependencies) {
    this.#dependencies = dependencies;
    // The engine sends and accepts up to 400 MB. By default, grpc-js refuses to receive more than 4 MB.
    this.#server = new Server({
      "grpc.max_receive_message_length": 400 * 1024 * 1024,
      "grpc.max_send_message_length": -1,
    });
  }

  addCalls(calls: UntypedServiceImplementation): void {
    this.#server.addService(ResourceProviderService, calls);
  }

  /** Answers the calls that come on this port, until the server is stopped. */
  answerOn(port: PluginPort): void {
    const connections = this.#server.createConnectionInjector(ServerCredentials.createInsecure());
    this.#port = port;
    port.onConnection((socket) => connections.injectConnection(socket));
  }

  /** How many calls have no reply yet. */
  get runningCalls(): number {
    return this.#running.size;
  }

  /** Tells the provider to end its waits (`Provider.cancel`). Never throws. */
  cancel(reason: CancelReason): void {
    // The engine's next run begins with another Handshake.
    this.#served = this.#attached = "";
    this.#tellProvider((provider) => provider.cancel(reason));
  }

  /** Handles a call of Cancel. */
  cancelRun(): void {
    // Hosts that only read the schema send Cancel, too (SDKs since 3.231). It ends no run.
    if (this.#attached === this.#served)
      this.cancel(this.runningCalls === 0 ? "finished" : "interrupted");
    else this.#attached = this.#served;
  }

  /** Called when an engine or another host connects. `address` is that of its log. */
  attach(address: string): void {
    if (address === "") return;
    this.#attached = address;
    const { log } = this.#dependencies;
    if (log.address === "") log.attach(address);
  }

  /** Begins the run of the host that made the last Handshake, unless this run has begun. */
  #beginRun(): void {
    if (this.#attached === this.#served) return;
    this.#served = this.#attached;
    this.#dependencies.log.attach(this.#served);
    this.#tellProvider((provider) => provider.renew());
  }

  /** Does nothing if no call has loaded the provider yet. */
  #tellProvider(tell: (provider: Provider) => void): void {
    this.#provider?.then(tell).catch((error: unknown) => {
      this.#dependencies.log.debug(describeError(error).stack);
    });
  }

  /**
   * Accepts no more calls. Resolves when all running calls have ended, even if their connections are gone, and the messages have
   * been sent or have failed.
   */
  async drain(): Promise<void> {
    // For grpc-js, a call ends with its connection. But its handler may still write the id of an instance to the ledger
    // (records of creates on disk), so that the instance is not lost (G1).
    this.#server.tryShutdown(() => undefined);
    // grpc-js does not wait until the last reply is sent, because it has not opened the port.
    await Promise.all([this.#port?.close(), ...this.#running]);
    // The last messages of a run are written after the answer to Cancel.
    await this.#dependencies.log.flush();
  }

  /** Closes all connections and the log at once. */
  stop(): void {
    void this.#port?.close();
    this.#server.forceShutdown();
    this.#dependencies.log.close();
  }

  /** Returns the handler of a call that does not need the provider. */
  unary<Request, Reply>(
    handle: (request: Request) => Reply | Promise<Reply>,
  ): handleUnaryCall<Request, Reply> {
    return (call, callback) => this.#run(callback, async () => handle(call.request));
  }

  /** Returns the handler of a call that needs the provider. */
  withProvider<Request, Reply>(
    handle: (provider: Provider, request: Request) => Promise<Reply>,
  ): handleUnaryCall<Request, Reply> {
    return this.unary(async (request) => handle(await this.#load(), request));
  }

  /** Returns the handler of a call that needs the provider, and that may be the first of a run. */
  beginningRun<Request, Reply>(
    handle: (provider: Provider, request: Request) => Promise<Reply>,
  ): handleUnaryCall<Request, Reply> {
    return this.unary(async (request) => {
      this.#beginRun();
      return handle(await this.#load(), request);
    });
  }

  /**
   * Returns the handler of a call whose caller goes away only with the engine, as after a second Ctrl-C. If the caller is gone
   * before the reply, the provider learns that the engine is gone.
   */
  whileEngineWaits<Request, Reply>(
    handle: handleUnaryCall<Request, Reply>,
  ): handleUnaryCall<Request, Reply> {
    return (call, callback) => {
      const onGone = () => this.cancel("engineGone");
      handle(call, (...outcome) => {
        // This event comes after every reply, too.
        call.off("cancelled", onGone);
        callback(...outcome);
      });
      call.once("cancelled", onGone);
    };
  }

  /** Returns the handler of a call that needs the provider, and replies with one message for each item. */
  streaming<Request, Reply>(
    handle: (provider: Provider, request: Request) => Promise<Reply[]>,
  ): handleServerStreamingCall<Request, Reply> {
    return (call) => {
      const callback: sendUnaryData<Reply[]> = (failure, replies) => {
        if (failure) return void call.emit("error", failure);
        for (const reply of replies ?? []) call.write(reply);
        call.end();
      };
      this.#run(callback, async () => handle(await this.#load(), call.request));
    };
  }

  #load(): Promise<Provider> {
    return (this.#provider ??= this.#dependencies.loadProvider());
  }

  /**
   * Replies with the result of `handle` or with the status for its error, so that nothing crashes the process or leaves
   * a call without a reply.
   */
  #run<Reply>(callback: sendUnaryData<Reply>, handle: () => Promise<Reply>): void {
    const { log } = this.#dependencies;
    const call = handle()
      .then(
        (reply): Parameters<typeof callback> => [null, reply],
        (error: unknown): Parameters<typeof callback> => [toCallFailure(error, log)],
      )
      .then(async (outcome) => {
        await log.flush();
        callback(...outcome);
      })
      // The caller is gone.
      .catch((error: unknown) => log.debug(`a reply could not be sent: ${String(error)}`))
      .finally(() => this.#running.delete(call));
    this.#running.add(call);
  }
}
