/** Runs tasks of one key one after the other, tasks of different keys at once. */
import { raceAbort } from "./abort";

export class KeyedLocks {
  readonly #tails = new Map<string, Promise<void>>();

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
      // Not before the tail itself: who gave up waiting must not let the next in beside the first.
      void tail.then(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    }
  }
}
