/** Time as an argument: whatever waits or measures takes a `Clock`, so that tests run on a virtual one. */
export interface Clock {
  /** Milliseconds on a scale that never goes back, whatever happens to the wall clock. */
  now(): number;
  /** Date and time of day, for people and for the ledger only. */
  date(): Date;
  /** Resolves after `ms`; rejects with the signal's reason as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** With a longer time than this (25 days), `setTimeout` fires at once. */
const longestTimerMs = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
  async sleep(ms, signal) {
    const due = performance.now() + ms;
    let left = ms;
    // More than one timer for a long sleep, and where a timer fires a little early.
    do {
      await oneTimer(Math.min(Math.ceil(left), longestTimerMs), signal);
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
