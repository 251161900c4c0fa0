/**
 * What a 429 does to a path (G6): a pause for every request to it, then one request at a time until
 * the service lets one in. Other runners share the token, so the end of a pause promises nothing,
 * and hundreds of requests at once would only be hundreds of 429s.
 */

export interface SlowDownOptions {
  random: () => number;
  /** Told once for each pause, not for each of the requests that ran into the same wall. */
  onSlowedDown: (retryInMs: number) => void;
}

const firstPauseMs = 1000;
const longestPauseMs = 30_000;

/** Identifies a request; `pauses` is how many pauses there had been when it set out. */
export interface Ticket {
  pauses: number;
}

export class SlowDown {
  readonly #options: SlowDownOptions;
  #pauses = 0;
  /** Pauses in a row without a request let in between. */
  #inARow = 0;
  #until = 0;
  #probe: Ticket | undefined;

  constructor(options: SlowDownOptions) {
    this.#options = options;
  }

  /** 0: go; Infinity: when the request that tries it ends. */
  msToWait(now: number): number {
    if (this.#inARow === 0) return 0;
    if (now < this.#until) return this.#until - now;
    return this.#probe ? Infinity : 0;
  }

  start(): Ticket {
    const ticket = { pauses: this.#pauses };
    if (this.#inARow > 0) this.#probe = ticket;
    return ticket;
  }

  end(ticket: Ticket, letIn: boolean): void {
    if (this.#probe === ticket) this.#probe = undefined;
    // Only what set out after the last pause shows that it is over.
    if (letIn && ticket.pauses === this.#pauses) this.#inARow = 0;
  }

  tooMany(ticket: Ticket, now: number, retryAfterMs: number | undefined): void {
    this.end(ticket, false);
    if (ticket.pauses !== this.#pauses) {
      // It set out before the pause that is on: the same wall, which counts once.
      if (retryAfterMs !== undefined) this.#until = Math.max(this.#until, now + retryAfterMs);
      return;
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
