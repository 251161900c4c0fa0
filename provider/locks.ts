/** Locks that have keys. With them, creates of one name wait for each other, and so do requests to one endpoint. */
import { raceAbort } from "./abort";

/** Runs the tasks of one key one after the other, and tasks of different keys at the same time. */
export class KeyedLocks {
  /** For each key, a promise that resolves when all tasks of the key so far have ended. */
  readonly #tails = new Map<string, Promise<void>>();

  /**
   * Runs `task` when all earlier tasks of this key have ended, and settles as `task` does. Rejects with the
   * signal's reason, without running `task`, if the signal is aborted before the earlier tasks have ended.
   */
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
      // `tail` also waits for the earlier tasks. If this task gave up waiting, the next task must still wait
      // for them.
      void tail.then(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    }
  }
}
