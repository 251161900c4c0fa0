/**
 * The Info column of `pulumi up`: for each operation under way one line, with what it does, for how long, and until when. It
 * begins with what matters most, because a terminal of 100 columns cuts it off after about 35 characters.
 *
 * At a terminal, the lines move with the clock. In a pipeline, where each is a line of the log, they are few.
 */
import { duration, localTime, minutesFrom, notNeeded } from "../abort";
import type { RequestError } from "../api/errors";
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

/** How long a line must have begun with something else before it is shown. What is over sooner would only flicker. */
const settledMs = 1000;
/** The pause between two updates at a terminal. */
const tickMs = 1000;
/** At a terminal, at most so many lines are sent with each tick, so that hundreds don't keep the engine busy. */
const linesPerTick = 10;
/** When a line is shown in a pipeline, from the begin of its operation on. Then each minute. */
const pipelineMs: readonly number[] = [10_000, 20_000, 40_000];
const minuteMs = 60_000;

/** The lines of a session. One timer serves them all, and none runs while no operation is under way. */
export class InfoColumn {
  readonly #ctx: ProviderContext;
  readonly #lines = new Set<Line>();
  #timer = new AbortController();
  /** The clock time at which the timer ends. */
  #wakesAt = Infinity;
  #tickedAt = -Infinity;

  constructor(ctx: ProviderContext) {
    this.#ctx = ctx;
  }

  /** Begins the line of an operation. Disposing of it ends the line. */
  begin(shown: LineSubject): Line {
    const line = new Line(shown, this.#ctx, this);
    this.#lines.add(line);
    return line;
  }

  /** Takes that a line begins otherwise. */
  changed(line: Line): void {
    // A wait may end after its operation.
    if (this.#lines.has(line)) this.#wakeAt(line.dueAt);
  }

  /** Takes the end of a line. */
  ended(line: Line): void {
    this.#lines.delete(line);
    if (this.#lines.size === 0) this.#stop();
  }

  #stop(): void {
    this.#timer.abort(notNeeded);
    this.#wakesAt = Infinity;
  }

  #wakeAt(dueAt: number): void {
    const { clock, isAtTerminal } = this.#ctx;
    const at = isAtTerminal ? Math.max(dueAt, this.#tickedAt + tickMs) : dueAt;
    if (at >= this.#wakesAt) return;
    this.#stop();
    this.#wakesAt = at;
    this.#timer = new AbortController();
    clock.sleep(Math.max(0, at - clock.now()), this.#timer.signal).then(
      () => this.#tick(),
      () => undefined,
    );
  }

  /** Shows the lines that are due. If they are too many, those that begin with something new come first. */
  #tick(): void {
    const { clock, isAtTerminal } = this.#ctx;
    const now = clock.now();
    this.#wakesAt = Infinity;
    this.#tickedAt = now;
    const due = [...this.#lines]
      .filter(({ dueAt }) => dueAt <= now)
      .sort((a, b) => Number(b.isNew) - Number(a.isNew) || a.dueAt - b.dueAt);
    for (const line of isAtTerminal ? due.slice(0, linesPerTick) : due) line.print();
    this.#wakeAt(Math.min(...[...this.#lines].map(({ dueAt }) => dueAt)));
  }
}

/** The line of one operation. */
export class Line implements Disposable {
  readonly #of: LineSubject;
  readonly #ctx: ProviderContext;
  readonly #column: InfoColumn;
  #activity: Activity | undefined;
  #failed: FailedRequest | undefined;
  /** The clock time since when the line begins as it does. */
  #beginsSoSince = 0;
  /** How the line began when it was last shown, and the clock time of that. */
  #shownBegin: string | undefined;
  #shownAt = 0;

  constructor(of: LineSubject, ctx: ProviderContext, column: InfoColumn) {
    this.#of = of;
    this.#ctx = ctx;
    this.#column = column;
  }

  /** Sets what the operation does from now on. */
  show(activity: Activity): void {
    this.#set(activity, this.#failed);
  }

  /** Sets, or with undefined ends, what keeps the operation from going on. */
  meet(failed: FailedRequest | undefined): void {
    this.#set(this.#activity, failed);
  }

  #set(activity: Activity | undefined, failed: FailedRequest | undefined): void {
    const before = this.#begin;
    this.#activity = activity;
    this.#failed = failed;
    if (this.#begin === before) return;
    this.#beginsSoSince = this.#ctx.clock.now();
    this.#column.changed(this);
  }

  /** The words with which the line begins. Undefined if there is nothing to show. */
  get #begin(): string | undefined {
    return this.#failed?.error.short ?? this.#activity?.what;
  }

  /** Whether the line begins otherwise than when it was last shown. */
  get isNew(): boolean {
    return this.#begin !== this.#shownBegin;
  }

  /** The clock time at which the line is to be shown next. */
  get dueAt(): number {
    if (this.#begin === undefined) return Infinity;
    if (this.isNew) return this.#beginsSoSince + settledMs;
    if (this.#ctx.isAtTerminal) return this.#shownAt + tickMs;
    const { beginsAt } = this.#of;
    const shownMs = this.#msAt(this.#shownAt);
    const nextMinuteMs = (Math.floor(shownMs / minuteMs) + 1) * minuteMs;
    return beginsAt + (pipelineMs.find((ms) => ms > shownMs) ?? nextMinuteMs);
  }

  /** How long the operation has lasted at this clock time. In whole milliseconds, or a line due now could be due now for ever. */
  #msAt(time: number): number {
    return Math.round(time - this.#of.beginsAt);
  }

  /** Shows the line. */
  print(): void {
    this.#shownBegin = this.#begin;
    this.#shownAt = this.#ctx.clock.now();
    this.#ctx.messages.status(this.#of.urn, this.#text());
  }

  #text(): string {
    const { seconds, id } = this.#of;
    const soFar = Math.floor(this.#msAt(this.#shownAt) / 1000);
    const parts = [
      this.#begin,
      this.#nextTry(),
      `${duration(soFar)} of ${limit(seconds)}`,
      this.#activity?.id ?? id,
    ];
    return parts.filter((part) => part !== undefined).join(", ");
  }

  /** Says when the next try is, unless it is under way. A longer pause has its end in local time, too. */
  #nextTry(): string | undefined {
    const { nextAt = -Infinity, until } = this.#failed ?? {};
    const seconds = Math.ceil((nextAt - this.#ctx.clock.now()) / 1000);
    if (seconds <= 0) return undefined;
    const end = until && seconds >= minutesFrom ? ` (${localTime(until)})` : "";
    return `next try in ${duration(seconds)}${end}`;
  }

  [Symbol.dispose](): void {
    this.#column.ended(this);
  }
}

/** A time-out is shown in minutes or hours only if it is a number of whole ones. */
function limit(seconds: number): string {
  const unit = seconds < 7200 ? 60 : 3600;
  return seconds % unit === 0 ? duration(seconds) : `${seconds} s`;
}
