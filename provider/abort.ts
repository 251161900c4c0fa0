/**
 * Ends operations early. Each operation has one AbortSignal, which is aborted by a cancel (`Canceled`)
 * or by the time-out of the operation (`TimedOut`).
 */
import type { Clock } from "./clock";

/**
 * The engine sent Cancel (Ctrl-C), or an operating-system signal such as SIGTERM has asked the plugin to end, or the
 * engine is gone.
 */
export class Canceled extends Error {
  override readonly name = "Canceled";
  constructor() {
    super("canceled");
  }
}

/** The operation's own time-out (`customTimeouts`, or a fixed one) has passed. */
export class TimedOut extends Error {
  override readonly name = "TimedOut";
  constructor(readonly seconds: number) {
    super(`timed out after ${seconds} s`);
  }
}

/**
 * The reason for an abort that only stops a timer or removes listeners, and ends no operation. It is one constant, since
 * `abort()` without a reason would make a new error with a stack trace each time.
 */
export const notNeeded = new Error("not needed any more");

/** Whether this error says that the operation was canceled or timed out, and did not fail by itself. */
export function isEnded(error: unknown): error is Canceled | TimedOut {
  return error instanceof Canceled || error instanceof TimedOut;
}

/** Settles as `promise` does, or rejects with the signal's reason as soon as the signal is aborted. */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    // Nobody waits for the promise any more, so its rejection would be reported as unhandled.
    promise.catch(() => undefined);
    return Promise.reject(signal.reason as Error);
  }
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** A signal that `deadline` or `grace` returns, and that a timer aborts. Disposing of the `Ending` stops the timer. */
export type Ending = Disposable & { signal: AbortSignal };

/** Returns a signal that is aborted when `outer` is aborted, with its reason, or after `seconds`, with `TimedOut`. */
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

/** Returns a signal that is aborted `ms` milliseconds after `outer` is aborted, with the same reason. */
export function grace(clock: Clock, ms: number, outer: AbortSignal): Ending {
  const timeUp = new AbortController();
  const stop = new AbortController();
  const onTime = () => timeUp.abort(outer.reason);
  const start = () => void clock.sleep(ms, stop.signal).then(onTime, () => undefined);
  if (outer.aborted) start();
  else outer.addEventListener("abort", start, { once: true, signal: stop.signal });
  return { signal: timeUp.signal, [Symbol.dispose]: () => stop.abort(notNeeded) };
}
