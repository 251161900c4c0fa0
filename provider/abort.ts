/** Ends operations early: a cancel (`Canceled`) or a time-out (`TimedOut`) aborts the operation's AbortSignal. */
import type { RequestError } from "./api/requestError";
import type { Clock } from "./clock";

/** The engine sent Cancel (Ctrl-C), a signal such as SIGTERM asked the plugin to end, or the engine is gone. */
export class Canceled extends Error {
  override readonly name = "Canceled";
  constructor() {
    super("canceled");
  }
}

/** The service asked to be left alone (429 or 503 with Retry-After) for so many seconds, until this date. */
export interface Pause {
  error: RequestError;
  seconds: number;
  until: Date;
}

/** What is known of a time-out. */
export interface TimeOutDetails {
  /** The resource option that sets it, such as "customTimeouts.create". Undefined for a fixed time-out. */
  option?: string | undefined;
  /** What the operation was waiting for, as the object of "waiting for". */
  waitedFor?: string | undefined;
  /** Why the last try of that has failed. */
  failed?: RequestError | undefined;
  /** Set if the time-out has not passed yet: this pause ends after it, so the operation has ended at once. */
  pause?: Pause | undefined;
}

/** The operation's time-out (`customTimeouts`, or a fixed one) has passed, or a pause will not end before it. */
export class TimedOut extends Error {
  override readonly name = "TimedOut";
  /** The request that has failed last. */
  readonly failed: RequestError | undefined;
  readonly pause: Pause | undefined;
  /** The time-out as messages name it: "900 s (customTimeouts.create)". */
  readonly limit: string;
  constructor(
    readonly seconds: number,
    { option, waitedFor, failed, pause }: TimeOutDetails = {},
  ) {
    const limit = `${seconds} s${option === undefined ? "" : ` (${option})`}`;
    const waited = waitedFor === undefined ? "" : `, waiting for ${waitedFor}`;
    const lastTry = failed ? `, and the last try failed: ${failed.message}` : "";
    super(
      pause
        ? `${pause.error.message}; the service asks for a pause until ${localTime(pause.until)} (Retry-After), and the operation's ${limit} end before that`
        : `timed out after ${limit}${waited}${lastTry}`,
    );
    this.limit = limit;
    this.failed = pause?.error ?? failed;
    this.pause = pause;
  }
}

/** Returns the lines of a report (`Report.shared`) on a pause that is longer than the operation may last. `limit`: as in `TimedOut`. */
export function pauseLines({ error, seconds, until }: Pause, limit: string): string[] {
  const end = `in ${duration(seconds)}, after ${localTime(until)}`;
  return [
    `: ${error.message}.`,
    `Run again ${end}: the service asks for a pause (Retry-After) that is longer than the operation's ${limit}.`,
  ];
}

/** From here on, a time is shown in minutes. In seconds. */
export const minutesFrom = 120;

/** Returns the time in the unit that leaves at least two of it: seconds, minutes or hours. */
export function duration(seconds: number): string {
  if (seconds < minutesFrom) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}

/** Returns the date and time in UTC, to the second (ISO 8601). */
export function secondOf(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}

/** Returns the date and time to the second: "2026-11-26 21:14:05 CET". By default in the time zone of this machine. */
export function localTime(date: Date, timeZone?: string): string {
  const format = new Intl.DateTimeFormat("sv-SE", {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
    timeZone,
  });
  // A zone without a short name is shown as "GMT−5", with a minus sign that not every terminal can show.
  return format.format(date).replace("\u2212", "-");
}

/**
 * The reason for an abort that ends no operation, but stops a timer or removes listeners. `abort()` without a reason
 * would make a new error with a stack trace each time.
 */
export const notNeeded = new Error("not needed any more");

/** Whether the operation was canceled or timed out, and did not fail by itself. */
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

/** A signal that a timer aborts. Disposing of the `Ending` stops the timer. */
export type Ending = Disposable & { signal: AbortSignal };

/** The signal is aborted after `seconds` with `TimedOut`, or with `outer` and for its reason. */
export function deadline(
  clock: Clock,
  seconds: number,
  outer: AbortSignal,
  timedOut = () => new TimedOut(seconds),
): Ending {
  const timeUp = new AbortController();
  const stop = new AbortController();
  const onTime = () => timeUp.abort(timedOut());
  clock.sleep(seconds * 1000, stop.signal).then(onTime, () => undefined);
  return {
    signal: AbortSignal.any([outer, timeUp.signal]),
    [Symbol.dispose]: () => stop.abort(notNeeded),
  };
}

/** The signal is aborted `ms` milliseconds after `outer`, for the same reason. */
export function grace(clock: Clock, ms: number, outer: AbortSignal): Ending {
  const timeUp = new AbortController();
  const stop = new AbortController();
  const onTime = () => timeUp.abort(outer.reason);
  const start = () => void clock.sleep(ms, stop.signal).then(onTime, () => undefined);
  if (outer.aborted) start();
  else outer.addEventListener("abort", start, { once: true, signal: stop.signal });
  return { signal: timeUp.signal, [Symbol.dispose]: () => stop.abort(notNeeded) };
}
