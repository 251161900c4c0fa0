/** The gRPC server: its port, its calls under way, and the provider, which the first call loads. */
import {
  Server,
  ServerCredentials,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type sendUnaryData,
} from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import type { Provider } from "../requests";
import { describeError, toCallFailure } from "./errors";
import { providerService, type CallRunner, type ServiceDependencies } from "./service";

/** What a server needs. */
export interface ServerDependencies extends ServiceDependencies {
  /**
   * Called once, by the first call that needs the provider: half of the plugins that an engine starts are
   * asked for nothing but the schema.
   */
  loadProvider: () => Promise<Provider>;
}

/** `pulumirpc.ResourceProvider` in front of a `Provider`. */
export class ProviderServer implements CallRunner {
  readonly #server: Server;
  readonly #dependencies: ServerDependencies;
  #provider: Promise<Provider> | undefined;
  readonly #running = new Set<Promise<void>>();

  constructor(dependencies: ServerDependencies) {
    this.#dependencies = dependencies;
    // The engine sends up to 400 MB and takes as much; grpc-js alone would refuse more than 4 MB.
    this.#server = new Server({
      "grpc.max_receive_message_length": 400 * 1024 * 1024,
      "grpc.max_send_message_length": -1,
    });
    this.#server.addService(ResourceProviderService, providerService(this, dependencies));
  }

  /** Binds to a port of the system's choice, for this machine only; resolves to the port. */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
        if (error) reject(error);
        else resolve(port);
      });
    });
  }

  get runningCalls(): number {
    return this.#running.size;
  }

  /** Has the provider end its waits, with the state kept; see `Provider.cancel`. Never throws. */
  cancel(isOrderly: boolean, isEngineGone = false): void {
    this.#tellProvider((provider) => provider.cancel(isOrderly, isEngineGone));
  }

  attachEngine(engineAddress: string): void {
    this.#dependencies.log.attach(engineAddress);
    this.#tellProvider((provider) => provider.renew());
  }

  /** A provider that no call has loaded has nothing to cancel. */
  #tellProvider(tell: (provider: Provider) => void): void {
    this.#provider?.then(tell).catch((error: unknown) => {
      this.#dependencies.log.debug(describeError(error).stack);
    });
  }

  /** Takes no more calls. Resolves once the running ones have ended, even without anybody to answer. */
  async drain(): Promise<void> {
    // With its connection a call is gone for grpc-js, but what it does for the ledger goes on (G1).
    const closed = new Promise<void>((resolve) => this.#server.tryShutdown(() => resolve()));
    await Promise.all([closed, ...this.#running]);
  }

  /** Breaks off whatever is still open. */
  stop(): void {
    this.#server.forceShutdown();
    this.#dependencies.log.close();
  }

  unary<Request, Reply>(
    handle: (request: Request) => Reply | Promise<Reply>,
  ): handleUnaryCall<Request, Reply> {
    return (call, callback) => this.#run(callback, async () => handle(call.request));
  }

  withProvider<Request, Reply>(
    handle: (provider: Provider, request: Request) => Promise<Reply>,
  ): handleUnaryCall<Request, Reply> {
    return this.unary(async (request) => handle(await this.#load(), request));
  }

  streaming<Request, Reply>(
    handle: (provider: Provider, request: Request) => Promise<Reply[]>,
  ): handleServerStreamingCall<Request, Reply> {
    return (call) => {
      const callback: sendUnaryData<Reply[]> = (failure, replies) => {
        if (failure) {
          call.emit("error", failure);
          return;
        }
        for (const reply of replies ?? []) call.write(reply);
        call.end();
      };
      this.#run(callback, async () => handle(await this.#load(), call.request));
    };
  }

  #load(): Promise<Provider> {
    return (this.#provider ??= this.#dependencies.loadProvider());
  }

  #run<Reply>(callback: sendUnaryData<Reply>, handle: () => Promise<Reply>): void {
    const call = this.#answer(callback, handle).finally(() => this.#running.delete(call));
    this.#running.add(call);
  }

  /**
   * What `handle` throws becomes the call's status, so that no message and no defect crashes the process
   * or leaves a call without an answer. A call's "cancelled" event is of no use here: grpc-js emits it
   * after answered calls too. Ctrl-C comes as a call of its own.
   */
  async #answer<Reply>(
    callback: sendUnaryData<Reply>,
    handle: () => Promise<Reply>,
  ): Promise<void> {
    const { log, redactor } = this.#dependencies;
    const debug = (text: string) => log.debug(text);
    let answer: Parameters<sendUnaryData<Reply>>;
    try {
      answer = [null, await handle()];
    } catch (error) {
      answer = [toCallFailure(error, { redactor, debug })];
    }
    await log.flush();
    try {
      callback(...answer);
    } catch (error) {
      // grpc-js itself threw: the caller is gone, and there is nobody left to answer.
      debug(`an answer could not be sent: ${String(error)}`);
    }
  }
}
