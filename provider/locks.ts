/** Locks by key, for requests to one endpoint. */
import { raceAbort } from "./abort";

/** Runs the tasks of one key one after the other, and tasks of different keys at once. */
export class KeyedLocks {
  /** The promises resolve when all tasks of the key so far have ended. */
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `task` after all earlier tasks of this key. Rejects with the signal's reason if it is aborted before. */
  async run<T>(key: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    const earlier = this.#tails.get(key) ?? Promise.resolve();
    const { promise: done, resolve: release } = Promise.withResolvers<void>();
    const tail = earlier.then(() => done);
    this.#tails.set(key, tail);
    try {
      await raceAbort(earlier, signal);
      return await task();
    } finally {
      release();
      // If this task gave up waiting, the next one must still wait for the earlier tasks.
      void tail.then(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    }
  }
}
