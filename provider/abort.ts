/** Ending an operation early: one AbortSignal for each call, from Ctrl-C (Cancel) and from its time-out. */
import type { Clock } from "./clock";

/** The engine sent Cancel. */
export class Canceled extends Error {
  override readonly name = "Canceled";
  constructor() {
    super("canceled");
  }
}

/** The operation's own time-out (`customTimeouts`, or the default) has passed. */
export class TimedOut extends Error {
  override readonly name = "TimedOut";
  constructor(readonly seconds: number) {
    super(`timed out after ${seconds} s`);
  }
}

/** The reason to end a sleep that nobody waits for: `abort()` without one makes a stack trace each time. */
export const notNeeded = new Error("not needed any more");

/** Whether the operation was ended from outside, as opposed to having failed. */
export function isEnded(error: unknown): error is Canceled | TimedOut {
  return error instanceof Canceled || error instanceof TimedOut;
}

/** Settles as `promise` does, or rejects with the signal's reason as soon as the signal is aborted. */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    // Nobody waits for the promise any more, so nobody would see it fail.
    promise.catch(() => undefined);
    return Promise.reject(signal.reason as Error);
  }
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** A signal with a timer behind it; disposing of it stops the timer. */
export type Ending = Disposable & { signal: AbortSignal };

/** A signal that is aborted with `outer`, or with `TimedOut` after so many seconds. */
export function deadline(clock: Clock, seconds: number, outer: AbortSignal): Ending {
  const timeUp = new AbortController();
  const stop = new AbortController();
  const onTime = () => timeUp.abort(new TimedOut(seconds));
  clock.sleep(seconds * 1000, stop.signal).then(onTime, () => undefined);
  return {
    signal: AbortSignal.any([outer, timeUp.signal]),
    [Symbol.dispose]: () => stop.abort(notNeeded),
  };
}

/** A signal that is aborted `ms` milliseconds after `ending` is, and with the same reason. */
export function grace(clock: Clock, ms: number, ending: AbortSignal): Ending {
  const over = new AbortController();
  const stop = new AbortController();
  const onTime = () => over.abort(ending.reason);
  const start = () => void clock.sleep(ms, stop.signal).then(onTime, () => undefined);
  if (ending.aborted) start();
  else ending.addEventListener("abort", start, { once: true, signal: stop.signal });
  return { signal: over.signal, [Symbol.dispose]: () => stop.abort(notNeeded) };
}
