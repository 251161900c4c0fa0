/**
 * Time that stands still until a test moves it, so that no test waits for, or measures, the real
 * one.
 */
import type { Clock } from "../clock";

interface Sleeper {
  due: number;
  wake: () => void;
}

export interface AutoAdvance {
  /** Asked before each step; false holds the clock, for example while a server is answering. */
  isIdle?: () => boolean;
  /** Real milliseconds without a new sleeper before the clock moves on. */
  quietMs?: number;
  /** Sleepers further away than this stay asleep: a deadline is reached by small steps, never by a jump. */
  longestJumpMs?: number;
}

export class VirtualClock implements Clock {
  #now = 0;
  #wallClock: number;
  #sleepers: Sleeper[] = [];
  #auto: Required<AutoAdvance> | undefined;
  #step: NodeJS.Timeout | undefined;

  constructor(start = "2026-01-01T00:00:00Z") {
    this.#wallClock = Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  date(): Date {
    return new Date(this.#wallClock + this.#now);
  }

  /** The wall clock is set, as a person or NTP does; `now` goes on as if nothing had happened. */
  setWallClock(date: Date): void {
    this.#wallClock = date.getTime() - this.#now;
  }

  /** How many sleeps are pending: a test of "no timer left" expects 0. */
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
      this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
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

  /** Lets `ms` pass: everyone due wakes in order, with time to run on and sleep again. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let next = this.#next(); next && next.due <= end; next = this.#next()) {
      this.#wake(next);
      await settled();
    }
    this.#now = end;
  }

  /** From now on the clock moves by itself whenever all is quiet. The result stops that. */
  autoAdvance(options: AutoAdvance = {}): Disposable {
    this.#auto = { isIdle: () => true, quietMs: 2, longestJumpMs: 300_000, ...options };
    this.#stepLater();
    return {
      [Symbol.dispose]: () => {
        this.#auto = undefined;
        clearTimeout(this.#step);
      },
    };
  }

  #next(): Sleeper | undefined {
    return this.#sleepers.reduce<Sleeper | undefined>(
      (first, other) => (first && first.due <= other.due ? first : other),
      undefined,
    );
  }

  #wake(sleeper: Sleeper): void {
    this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
    this.#now = Math.max(this.#now, sleeper.due);
    sleeper.wake();
  }

  #stepLater(): void {
    clearTimeout(this.#step);
    if (!this.#auto || !this.#sleepers.length) return;
    const { isIdle, quietMs, longestJumpMs } = this.#auto;
    this.#step = setTimeout(() => {
      const next = this.#next();
      if (next && isIdle() && next.due - this.#now <= longestJumpMs) {
        // Of those due at the same moment, each wakes: hundreds that wait alike take one step.
        for (const other of this.#sleepers) if (other.due <= next.due) this.#wake(other);
      }
      this.#stepLater();
    }, quietMs);
  }
}

/** Lets everything that is ready to run do so. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
}
