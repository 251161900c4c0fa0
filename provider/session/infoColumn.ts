/**
 * The Info column of `pulumi up`: for each operation under way one line, with what it does, for how long, and until when. It
 * begins with what matters most, because a terminal of 100 columns cuts it off after about 35 characters.
 */
import { duration, localTime, minutesFrom, notNeeded } from "../abort";
import type { RequestError } from "../api/requestError";
import type { ProviderContext } from "../context";

/** What an operation does. */
export interface Activity {
  /** In few words, such as the status of the instance. */
  readonly what: string;
  /** The instance, if the call has not named it. */
  readonly id?: string | undefined;
}

/** A failed try of a request for which an operation waits. Its line then begins with the error. */
export interface FailedRequest {
  readonly error: RequestError;
  /** The clock time of the next try, if it is known. */
  readonly nextAt?: number;
  /** The date of the next try. */
  readonly until?: Date;
}

/** The operation of a line. */
interface LineSubject {
  readonly urn: string;
  /** The instance, if the call names it. */
  readonly id?: string | undefined;
  /** The clock time. */
  readonly beginsAt: number;
  /** The time-out. */
  readonly seconds: number;
}

/** The pause between two looks at the lines. */
const tickMs = 1000;
/** At a terminal, at most so many lines are sent with each tick, so that hundreds don't keep the engine busy. */
const linesPerTick = 10;
/** In a pipeline, where each line is one of the log, a line comes again after so long, unless it begins otherwise. */
const againMs = 30_000;

/** The lines of a session. One timer serves them all, and none runs while no operation is under way. */
export class InfoColumn {
  readonly #ctx: ProviderContext;
  readonly #lines = new Set<Line>();
  #timer = new AbortController();

  constructor(ctx: ProviderContext) {
    this.#ctx = ctx;
  }

  /** Begins the line of an operation. Disposing of it ends the line. */
  begin(of: LineSubject): Line {
    const line = new Line(of, () => {
      this.#lines.delete(line);
      if (this.#lines.size === 0) this.#timer.abort(notNeeded);
    });
    if (this.#lines.size === 0) this.#tickLater((this.#timer = new AbortController()).signal);
    this.#lines.add(line);
    return line;
  }

  #tickLater(signal: AbortSignal): void {
    const { clock, messages, isAtTerminal } = this.#ctx;
    const tick = () => {
      const now = clock.now();
      const due = [...this.#lines]
        .filter((line) => line.isDue(now, isAtTerminal ? 0 : againMs))
        .sort((a, b) => Number(b.isNew) - Number(a.isNew) || a.printedAt - b.printedAt);
      for (const line of isAtTerminal ? due.slice(0, linesPerTick) : due)
        messages.status(line.of.urn, line.textAt(now));
      this.#tickLater(signal);
    };
    clock.sleep(tickMs, signal).then(tick, () => undefined);
  }
}

/** The line of one operation. */
export class Line implements Disposable {
  readonly of: LineSubject;
  readonly #onEnd: () => void;
  #activity: Activity | undefined;
  #failed: FailedRequest | undefined;
  /** How the line began when it was last shown, and the clock time of that. */
  #printedBegin: string | undefined;
  printedAt = -Infinity;

  constructor(of: LineSubject, onEnd: () => void) {
    this.of = of;
    this.#onEnd = onEnd;
  }

  /** Sets what the operation does from now on. */
  show(activity: Activity): void {
    this.#activity = activity;
  }

  /** Sets, or with undefined ends, what keeps the operation from going on. */
  meet(failed: FailedRequest | undefined): void {
    this.#failed = failed;
  }

  /** The words with which the line begins. Undefined if there is nothing to show. */
  get #begin(): string | undefined {
    return this.#failed?.error.short ?? this.#activity?.what;
  }

  /** Whether the line begins otherwise than when it was last shown. */
  get isNew(): boolean {
    return this.#begin !== this.#printedBegin;
  }

  isDue(now: number, afterMs: number): boolean {
    return this.#begin !== undefined && (this.isNew || now - this.printedAt >= afterMs);
  }

  /** Returns the text that is shown now. */
  textAt(now: number): string {
    this.#printedBegin = this.#begin;
    this.printedAt = now;
    const { seconds, id, beginsAt } = this.of;
    const soFar = Math.floor(Math.round(now - beginsAt) / 1000);
    const parts = [
      this.#begin,
      this.#nextTry(now),
      `${duration(soFar)} of ${limit(seconds)}`,
      this.#activity?.id ?? id,
    ];
    return parts.filter((part) => part !== undefined).join(", ");
  }

  /** Says when the next try is, unless it is under way. A longer pause has its end in local time, too. */
  #nextTry(now: number): string | undefined {
    const { nextAt = -Infinity, until } = this.#failed ?? {};
    const seconds = Math.ceil((nextAt - now) / 1000);
    if (seconds <= 0) return undefined;
    const end = until && seconds >= minutesFrom ? ` (${localTime(until)})` : "";
    return `next try in ${duration(seconds)}${end}`;
  }

  [Symbol.dispose](): void {
    this.#onEnd();
  }
}

/** A time-out is shown in minutes or hours only if it is a number of whole ones. */
function limit(seconds: number): string {
  const unit = seconds < 7200 ? 60 : 3600;
  return seconds % unit === 0 ? duration(seconds) : `${seconds} s`;
}
