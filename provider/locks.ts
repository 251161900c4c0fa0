import { raceAbort } from "./abort";

/** Runs tasks of one key one after the other, and tasks of different keys at once. */
export class KeyedLocks {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `task` once no earlier one of this key runs; rejects if the signal is aborted before that. */
  async run<T>(key: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const { promise: done, resolve: release } = Promise.withResolvers<void>();
    const tail = before.then(() => done);
    this.#tails.set(key, tail);
    try {
      await raceAbort(before, signal);
      return await task();
    } finally {
      release();
      // Not earlier: a task that gave up waiting must not let the next one run beside the first.
      void tail.then(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    }
  }
}
