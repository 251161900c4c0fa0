/**
 * What a 429 does to a path (G6): a pause for every request to it, one request at a time until the
 * service lets one in, and from then on even distances that grow shorter. Other runners share the
 * token: a burst after the pause would use up all that came free, and leave those who want a single
 * request outside for minutes. docs/scaling.md compares this with other choices.
 */

export interface BackOffOptions {
  random: () => number;
  /** Requests a minute. */
  limit: number;
  /** Told once for each pause, not for each of the requests that ran into the same wall. */
  onSlowedDown: (retryInMs: number) => void;
}

const firstPauseMs = 1000;
const longestPauseMs = 30_000;
/** The least rate after a 429, and what each second of being let in adds to it: this part of the limit. */
const step = 1 / 100;

/** Identifies a request; `pauses` is how many pauses there had been when it set out. */
export interface Ticket {
  pauses: number;
}

/** What paces a path once the service has answered 429. */
export interface BackOff {
  /** 0: go; Infinity: when a request under way ends. */
  msToWait(now: number): number;
  start(now: number): Ticket;
  end(ticket: Ticket, letIn: boolean): void;
  tooMany(ticket: Ticket, now: number, retryAfterMs: number | undefined): void;
}

export class SlowDown implements BackOff {
  readonly #options: BackOffOptions;
  /** The limit as requests a second. */
  readonly #fullRate: number;
  #pauses = 0;
  /** Pauses in a row without a request let in between. */
  #inARow = 0;
  #until = 0;
  #probe: Ticket | undefined;
  /** Requests a second; Infinity as long as there was no 429. */
  #rate = Infinity;
  #next = 0;

  constructor(options: BackOffOptions) {
    this.#options = options;
    this.#fullRate = options.limit / 60;
  }

  /** 0: go; Infinity: when the request that tries it ends. */
  msToWait(now: number): number {
    if (this.#inARow === 0) return Math.max(0, this.#next - now);
    if (now < this.#until) return this.#until - now;
    return this.#probe ? Infinity : 0;
  }

  start(now: number): Ticket {
    const ticket = { pauses: this.#pauses };
    if (this.#inARow > 0) this.#probe = ticket;
    // Infinity makes no distance.
    this.#next = now + (1000 / this.#rate) * (0.5 + this.#options.random());
    return ticket;
  }

  end(ticket: Ticket, letIn: boolean): void {
    if (this.#probe === ticket) this.#probe = undefined;
    // Only what set out after the last pause shows that it is over.
    if (!letIn || ticket.pauses !== this.#pauses) return;
    this.#inARow = 0;
    this.#rate += (step * this.#fullRate) / this.#rate;
    if (this.#rate >= this.#fullRate) this.#rate = Infinity;
  }

  tooMany(ticket: Ticket, now: number, retryAfterMs: number | undefined): void {
    this.end(ticket, false);
    if (ticket.pauses !== this.#pauses) {
      // It set out before the pause that is on: the same wall, which counts once.
      if (retryAfterMs !== undefined) this.#until = Math.max(this.#until, now + retryAfterMs);
      return;
    }
    if (this.#inARow === 0) {
      const half = Math.min(this.#rate, this.#fullRate) / 2;
      this.#rate = Math.max(half, step * this.#fullRate);
    }
    this.#pauses++;
    this.#inARow++;
    const pause = retryAfterMs ?? this.#backOff();
    this.#until = now + pause;
    this.#options.onSlowedDown(pause);
  }

  #backOff(): number {
    const doubled = firstPauseMs * 2 ** Math.min(this.#inARow - 1, 10);
    return Math.min(longestPauseMs, doubled * (0.75 + this.#options.random() / 2));
  }
}
