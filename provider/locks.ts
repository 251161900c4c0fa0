/** Locks by key, by which creates of one name, and requests to one endpoint, wait for each other. */
import { raceAbort } from "./abort";

/** Runs the tasks of one key one after the other, and tasks of different keys at the same time. */
export class KeyedLocks {
  readonly #tails = new Map<string, Promise<void>>();

  /**
   * Runs `task` when all earlier tasks of this key have ended, and settles as `task` does. Rejects with the
   * signal's reason, without running `task`, if the signal is aborted before that.
   */
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
      // `tail` also waits for the earlier tasks. If this task gave up waiting, the next one must still wait for
      // them.
      void tail.then(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    }
  }
}
