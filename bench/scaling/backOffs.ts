/** What else a 429 could do to a path: the choices that the provider's own is held against. */
import type { BackOff, BackOffOptions, Ticket } from "../../provider/api/http/slowDown";

/** A pause that doubles to 30 s, then one request that tries the way, then all that wait at once. */
class PauseAndBurst implements BackOff {
  #pauses = 0;
  #inARow = 0;
  #until = 0;
  #probe: Ticket | undefined;

  constructor(
    private readonly options: BackOffOptions,
    /** The part of a pause that is left to chance. */
    private readonly jitter: number,
  ) {}

  msToWait(now: number): number {
    if (this.#inARow === 0) return 0;
    return this.#until > now ? this.#until - now : this.#probe ? Infinity : 0;
  }
  start(): Ticket {
    const ticket = { pauses: this.#pauses };
    if (this.#inARow > 0) this.#probe = ticket;
    return ticket;
  }
  end(ticket: Ticket, letIn: boolean): void {
    if (this.#probe === ticket) this.#probe = undefined;
    if (letIn && ticket.pauses === this.#pauses) this.#inARow = 0;
  }
  tooMany(ticket: Ticket, now: number): void {
    this.end(ticket, false);
    if (ticket.pauses !== this.#pauses) return;
    this.#pauses++;
    const most = Math.min(30_000, 1000 * 2 ** this.#inARow++);
    this.#until = now + most * (1 - this.jitter * this.options.random());
    this.options.onSlowedDown(this.#until - now);
  }
}

/** A rate that every 429 halves and every second raises a little, without any pause: as TCP does it. */
class HalvedRate implements BackOff {
  #pauses = 0;
  /** Requests a second. */
  #rate = Infinity;
  #next = 0;

  constructor(private readonly options: BackOffOptions) {}

  msToWait(now: number): number {
    return Math.max(0, this.#next - now);
  }
  start(now: number): Ticket {
    this.#next = now + this.#distance();
    return { pauses: this.#pauses };
  }
  end(_: Ticket, letIn: boolean): void {
    if (letIn) this.#rate += 1 / 60 / this.#rate;
  }
  tooMany(ticket: Ticket, now: number): void {
    if (ticket.pauses !== this.#pauses) return;
    this.#pauses++;
    this.#rate = Math.max(0.1, Math.min(this.#rate, this.options.limit / 60) / 2);
    this.#next = now + this.#distance();
    this.options.onSlowedDown(this.#next - now);
  }
  #distance(): number {
    return (1000 / this.#rate) * (0.5 + this.options.random());
  }
}

type Choice = (options: BackOffOptions) => BackOff;

const pauseAndBurst: Choice = (options) => new PauseAndBurst(options, 0.4);
const fullJitter: Choice = (options) => new PauseAndBurst(options, 1);
const halvedRate: Choice = (options) => new HalvedRate(options);
export const backOffs = { pauseAndBurst, fullJitter, halvedRate };
