/**
 * What a 429 does (G6): a pause, then one request at a time until the service lets one in, and from then
 * on even distances that grow shorter. Other runners share the token: a burst after the pause would use
 * up all that came free, and leave those who want a single request outside for minutes. docs/scaling.md
 * compares this with other choices.
 */

export interface BackOffOptions {
  /** 0 up to 1, for jitter. */
  random: () => number;
  /** Requests a minute. */
  limit: number;
}

/** Times are of one clock, in milliseconds; a request is known by when it started. */
export interface BackOff {
  /** 0: a request may go; Infinity: when one under way ends. */
  msToWait(now: number): number;
  start(now: number): void;
  end(started: number, letIn: boolean): void;
  /** A 429. Gives the length of the pause that begins; undefined when one was on already. */
  tooMany(started: number, now: number, retryAfterMs: number | undefined): number | undefined;
}

const firstPauseMs = 1000;
const longestPauseMs = 30_000;
/** The least rate after a 429, and what each second of being let in adds to it: this part of the limit. */
const step = 1 / 100;

export class PauseThenSpread implements BackOff {
  readonly #random: () => number;
  /** The limit as requests a second. */
  readonly #fullRate: number;
  /** When the last pause began: what started before says nothing about how things are since. */
  #pausedAt = -Infinity;
  #until = 0;
  /** Pauses in a row without a request let in between. */
  #inARow = 0;
  #probing = false;
  /** Requests a second; Infinity as long as there was no 429. */
  #rate = Infinity;
  #next = 0;

  constructor({ random, limit }: BackOffOptions) {
    this.#random = random;
    this.#fullRate = limit / 60;
  }

  msToWait(now: number): number {
    if (this.#inARow === 0) return Math.max(0, this.#next - now);
    if (now < this.#until) return this.#until - now;
    return this.#probing ? Infinity : 0;
  }

  start(now: number): void {
    this.#probing = this.#inARow > 0;
    // Infinity makes no distance.
    this.#next = now + (1000 / this.#rate) * (0.5 + this.#random());
  }

  end(started: number, letIn: boolean): void {
    if (started <= this.#pausedAt) return;
    this.#probing = false;
    if (!letIn) return;
    this.#inARow = 0;
    this.#rate += (step * this.#fullRate) / this.#rate;
    if (this.#rate >= this.#fullRate) this.#rate = Infinity;
  }

  tooMany(started: number, now: number, retryAfterMs: number | undefined): number | undefined {
    if (started <= this.#pausedAt) {
      // The same wall, which counts once.
      if (retryAfterMs !== undefined) this.#until = Math.max(this.#until, now + retryAfterMs);
      return undefined;
    }
    this.#probing = false;
    if (this.#inARow === 0) {
      const half = Math.min(this.#rate, this.#fullRate) / 2;
      this.#rate = Math.max(half, step * this.#fullRate);
    }
    const pause = retryAfterMs ?? this.#jittered(firstPauseMs * 2 ** Math.min(this.#inARow, 10));
    this.#inARow++;
    this.#pausedAt = now;
    this.#until = now + pause;
    return pause;
  }

  #jittered(ms: number): number {
    return Math.min(longestPauseMs, ms * (0.75 + this.#random() / 2));
  }
}
