/** Ending early: one AbortSignal a call, from Ctrl-C (Cancel) and the call's own time-out. */
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

/** Whether the error says that the operation was ended from outside, not that something failed. */
export function isEnded(error: unknown): error is Canceled | TimedOut {
  return error instanceof Canceled || error instanceof TimedOut;
}

/** Settles as `promise`, or rejects with the signal's reason as soon as it is aborted. */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    // Nobody waits for it any more, so nobody would see it fail.
    promise.catch(() => undefined);
    return Promise.reject(signal.reason as Error);
  }
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** A signal that is aborted with `TimedOut` after `seconds`, or with `outer`. `stop` frees the timer. */
export function deadline(
  clock: Clock,
  seconds: number,
  outer: AbortSignal,
): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const stopper = new AbortController();
  clock.sleep(seconds * 1000, stopper.signal).then(
    () => controller.abort(new TimedOut(seconds)),
    () => undefined,
  );
  return {
    signal: AbortSignal.any([outer, controller.signal]),
    stop: () => stopper.abort(new Canceled()),
  };
}
