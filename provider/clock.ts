/**
 * Time as an argument: everything that waits or measures takes a `Clock`, so that tests run on a
 * virtual one.
 */
export interface Clock {
  /** Milliseconds on a scale that never goes back, whatever happens to the wall clock. */
  now(): number;
  /** Date and time of day, for people and for the ledger only. */
  date(): Date;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A longer `setTimeout` is over at once; one may also be over a little early. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
  sleep(ms, signal) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const due = performance.now() + ms;
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return promise;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    let timer: NodeJS.Timeout;
    const onTimer = () => {
      const left = due - performance.now();
      if (left > 0) return wait(left);
      signal?.removeEventListener("abort", onAbort);
      resolve();
    };
    const wait = (left: number) => {
      timer = setTimeout(onTimer, Math.min(Math.ceil(left), longestTimerMs));
    };
    wait(ms);
    signal?.addEventListener("abort", onAbort, { once: true });
    return promise;
  },
};
