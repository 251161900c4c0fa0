/** A clock for tests, so that none waits for real time or measures it. */
import type { Clock } from "../clock";

/** How many real milliseconds must pass without a new `sleep` before the clock moves by itself. */
const quietMs = 2;
/** The longest sleep that the clock ends by itself, in virtual milliseconds. */
const longestJumpMs = 300_000;

/** A clock that moves by `advance`, or by itself after `autoAdvance`. */
export class VirtualClock implements Clock {
  #now = 0;
  #wallClock: number;
  /** The pending sleeps. `due` is a time on the scale of `now`. */
  readonly #sleepers = new Set<{ due: number; wake: () => void }>();
  #advancesItself = false;
  #stepTimer: NodeJS.Timeout | undefined;

  constructor(start = "2026-01-01T00:00:00Z") {
    this.#wallClock = Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  date(): Date {
    return new Date(this.#wallClock + this.#now);
  }

  /** Sets the wall clock, as a person or NTP does. */
  setWallClock(date: Date): void {
    this.#wallClock = date.getTime() - this.#now;
  }

  /** The number of pending sleeps. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve: wake, reject } = Promise.withResolvers<void>();
    const sleeper = { due: this.#now + Math.max(0, ms), wake };
    const onAbort = () => {
      this.#sleepers.delete(sleeper);
      reject(signal?.reason as Error);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#sleepers.add(sleeper);
    this.#stepLater();
    await promise.finally(() => signal?.removeEventListener("abort", onAbort));
  }

  /** Lets `ms` pass. Sleeps end in the order in which they are due, also those that begin on the way. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await readyCodeHasRun();
    for (let due = this.#nextDue(); due <= end; due = this.#nextDue()) {
      this.#moveTo(due);
      await readyCodeHasRun();
    }
    this.#now = end;
    this.#stepLater();
  }

  /**
   * From now on the clock moves to the end of the next sleep whenever no sleep has begun for a moment of real time, also
   * while a disk or a socket is waited for. Sleeps of more than five minutes do not end so. Disposing the result stops it.
   */
  autoAdvance(): Disposable {
    this.#advancesItself = true;
    this.#stepLater();
    return {
      [Symbol.dispose]: () => {
        this.#advancesItself = false;
        clearTimeout(this.#stepTimer);
      },
    };
  }

  /** When the next sleep is due. Infinity if there is none. */
  #nextDue(): number {
    return Math.min(...[...this.#sleepers].map(({ due }) => due));
  }

  /** Moves the clock, and ends all sleeps that are due then. */
  #moveTo(time: number): void {
    this.#now = Math.max(this.#now, time);
    for (const sleeper of this.#sleepers) {
      if (sleeper.due <= time && this.#sleepers.delete(sleeper)) sleeper.wake();
    }
  }

  #stepLater(): void {
    clearTimeout(this.#stepTimer);
    if (!this.#advancesItself || !this.#sleepers.size) return;
    this.#stepTimer = setTimeout(() => {
      const due = this.#nextDue();
      // A timer that went on would keep the process of the test alive. The next sleep starts it again.
      if (due - this.#now > longestJumpMs) return;
      this.#moveTo(due);
      this.#stepLater();
    }, quietMs);
  }
}

/** Resolves when all code that waits for no timer or socket has run. */
async function readyCodeHasRun(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
}
