import type { handleServerStreamingCall, handleUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import type { EngineLog } from "./engineLog";
import { toFailure, type FailureContext } from "./errors";

/**
 * Runs every call: what it throws, synchronously or not, becomes its status, so that no message and
 * no defect can crash the process or leave a call without an answer.
 *
 * A call's "cancelled" event is of no use here: grpc-js emits it after answered calls too. Ctrl-C
 * comes as a call of its own.
 */
export class Calls {
  readonly #running = new Set<Promise<void>>();

  constructor(
    private readonly log: EngineLog,
    private readonly context: FailureContext,
  ) {}

  /** How many are not answered yet. */
  get running(): number {
    return this.#running.size;
  }

  /** Resolves once those running now have ended, whether or not anybody is there for the answers. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  unary<Request, Reply>(
    handle: (request: Request) => Reply | Promise<Reply>,
  ): handleUnaryCall<Request, Reply> {
    return (call, callback) => this.#run(callback, () => handle(call.request));
  }

  /** Streams what `handle` resolves to, one message each. */
  streamed<Request, Reply>(
    handle: (request: Request) => Promise<Reply[]>,
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
      this.#run(callback, () => handle(call.request));
    };
  }

  #run<Reply>(callback: sendUnaryData<Reply>, run: () => Reply | Promise<Reply>): void {
    const call = this.#answer(callback, run).finally(() => this.#running.delete(call));
    this.#running.add(call);
  }

  async #answer<Reply>(
    callback: sendUnaryData<Reply>,
    run: () => Reply | Promise<Reply>,
  ): Promise<void> {
    try {
      const [failure, reply] = await new Promise<Reply>((resolve) => resolve(run())).then(
        (value) => [null, value] as const,
        (error: unknown) => [toFailure(error, this.context), undefined] as const,
      );
      await this.log.flush();
      callback(failure, reply);
    } catch (error) {
      // grpc-js itself: the caller is gone, and there is nobody left to answer.
      this.context.debug(`an answer could not be sent: ${String(error)}`);
    }
  }
}
