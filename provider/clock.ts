/** The clock that the provider waits and measures with. Tests pass a virtual one. */

/** Measures time, and waits. */
export interface Clock {
  /** Milliseconds on a scale that never goes back, called "clock time" elsewhere. */
  now(): number;
  /** The wall clock, which may be set back. For messages, stored dates, and comparison with the service's dates. */
  date(): Date;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** With a longer time (25 days), `setTimeout` fires at once. */
const maxTimerMs = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
  async sleep(ms, signal) {
    const endsAt = performance.now() + ms;
    let leftMs = ms;
    // A long sleep needs more than one timer, and so does a sleep whose timer fires a little early.
    do {
      await oneTimer(Math.min(Math.ceil(leftMs), maxTimerMs), signal);
      leftMs = endsAt - performance.now();
    } while (leftMs > 0);
  },
};

function oneTimer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}
