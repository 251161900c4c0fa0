/**
 * The clock that the provider waits and measures with. It is passed as an argument, so that tests can run on
 * virtual time.
 */

/** Measures time, and waits. */
export interface Clock {
  /**
   * Milliseconds on a scale that never goes back, even if the wall clock is set back. Comments elsewhere call
   * this "clock time".
   */
  now(): number;
  /** Date and time of day: for people, for dates in the state and the ledger, and to compare with dates of the service. */
  date(): Date;
  /** Resolves after `ms`; rejects with the signal's reason as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** With a longer time than this (25 days), `setTimeout` fires at once. */
const maxTimerMs = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
  async sleep(ms, signal) {
    const due = performance.now() + ms;
    let left = ms;
    // A long sleep needs more than one timer, and so does a sleep whose timer fires a little early.
    do {
      await oneTimer(Math.min(Math.ceil(left), maxTimerMs), signal);
      left = due - performance.now();
    } while (left > 0);
  },
};

function oneTimer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
