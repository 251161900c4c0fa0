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

/** For a sleep that nobody waits for any more: without a reason each `abort()` makes an error with a stack trace. */
export const notNeeded = new Error("not needed any more");

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

/** The signal that ends something; disposed of, it leaves no timer. */
export type Ending = Disposable & { signal: AbortSignal };

/** Aborted with `TimedOut` after `seconds`, or with `outer`. */
export function deadline(clock: Clock, seconds: number, outer: AbortSignal): Ending {
  const timer = new Timer(clock);
  timer.start(seconds * 1000, new TimedOut(seconds));
  const signal = AbortSignal.any([outer, timer.signal]);
  return { signal, [Symbol.dispose]: () => timer.stop() };
}

/** Aborted as `ending` is, but so much later. */
export function grace(clock: Clock, ms: number, ending: AbortSignal): Ending {
  const timer = new Timer(clock);
  const start = () => timer.start(ms, ending.reason as Error);
  if (ending.aborted) start();
  else ending.addEventListener("abort", start, { once: true });
  const stop = () => {
    ending.removeEventListener("abort", start);
    timer.stop();
  };
  return { signal: timer.signal, [Symbol.dispose]: stop };
}

/** Aborts its signal when its time is over. */
class Timer {
  readonly #controller = new AbortController();
  readonly #stopper = new AbortController();

  constructor(private readonly clock: Clock) {}

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  start(ms: number, reason: Error): void {
    this.clock.sleep(ms, this.#stopper.signal).then(
      () => this.#controller.abort(reason),
      () => undefined,
    );
  }

  stop(): void {
    this.#stopper.abort(notNeeded);
  }
}
