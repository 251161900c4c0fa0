/** A clock for tests, so that none waits for real time or measures it. */
import type { Clock } from "../clock";

interface Sleeper {
  /** On the scale of `now`. */
  due: number;
  wake: () => void;
}

/** How a clock moves by itself. */
export interface AutoAdvance {
  /** While it returns false, the clock stands still, for example because a server is answering. */
  isIdle?: () => boolean;
  /** How many real milliseconds must pass without a new `sleep` before the clock moves on. */
  quietMs?: number;
  /** The longest step, in virtual milliseconds. A longer sleep ends only after shorter ones. */
  longestJumpMs?: number;
}

/** A clock that moves by `advance`, or by itself after `autoAdvance`. */
export class VirtualClock implements Clock {
  #now = 0;
  #wallClock: number;
  #sleepers: Sleeper[] = [];
  #autoAdvance: Required<AutoAdvance> | undefined;
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
    return this.#sleepers.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return promise;
    }
    const onAbort = () => {
      this.#sleepers = this.#sleepers.filter((it) => it !== sleeper);
      reject(signal?.reason as Error);
    };
    const sleeper: Sleeper = {
      due: this.#now + Math.max(0, ms),
      wake: () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      },
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#sleepers.push(sleeper);
    this.#stepLater();
    return promise;
  }

  /** Lets `ms` pass. Sleeps end in the order in which they are due, also those that begin on the way. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await readyCodeHasRun();
    for (let next = this.#nextSleeper(); next && next.due <= end; next = this.#nextSleeper()) {
      this.#wake(next);
      await readyCodeHasRun();
    }
    this.#now = end;
  }

  /**
   * From now on the clock moves to the end of the next sleep whenever no sleep has begun for `quietMs` of real time. So
   * it also moves while a disk or a socket is waited for, unless `isIdle` prevents it. Disposing the result stops it.
   */
  autoAdvance(options: AutoAdvance = {}): Disposable {
    this.#autoAdvance = { isIdle: () => true, quietMs: 2, longestJumpMs: 300_000, ...options };
    this.#stepLater();
    return {
      [Symbol.dispose]: () => {
        this.#autoAdvance = undefined;
        clearTimeout(this.#stepTimer);
      },
    };
  }

  #nextSleeper(): Sleeper | undefined {
    return this.#sleepers.reduce<Sleeper | undefined>(
      (first, sleeper) => (first && first.due <= sleeper.due ? first : sleeper),
      undefined,
    );
  }

  #wake(sleeper: Sleeper): void {
    this.#sleepers = this.#sleepers.filter((it) => it !== sleeper);
    this.#now = Math.max(this.#now, sleeper.due);
    sleeper.wake();
  }

  #stepLater(): void {
    clearTimeout(this.#stepTimer);
    if (!this.#autoAdvance || !this.#sleepers.length) return;
    const { isIdle, quietMs, longestJumpMs } = this.#autoAdvance;
    this.#stepTimer = setTimeout(() => {
      const next = this.#nextSleeper();
      if (next && isIdle() && next.due - this.#now <= longestJumpMs) {
        // All sleeps that are due at this moment end in one step.
        for (const sleeper of this.#sleepers) if (sleeper.due <= next.due) this.#wake(sleeper);
      }
      this.#stepLater();
    }, quietMs);
  }
}

/** Resolves when all code that waits for no timer or socket has run. */
async function readyCodeHasRun(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
}
