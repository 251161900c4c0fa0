/** What else a 429 could do to a path: the choices that the provider's own is held against. */
import type { BackOff, BackOffOptions } from "../../provider/api/http/backOff";

/** A pause that doubles to 30 s, then one request that tries the way, then all that wait at once. */
class PauseAndBurst implements BackOff {
  #pausedAt = -Infinity;
  #inARow = 0;
  #until = 0;
  #probing = false;

  constructor(
    private readonly options: BackOffOptions,
    /** The part of a pause that is left to chance. */
    private readonly jitter: number,
  ) {}

  msToWait(now: number): number {
    if (this.#inARow === 0) return 0;
    return this.#until > now ? this.#until - now : this.#probing ? Infinity : 0;
  }
  start(): void {
    this.#probing = this.#inARow > 0;
  }
  end(started: number, letIn: boolean): void {
    if (started <= this.#pausedAt) return;
    this.#probing = false;
    if (letIn) this.#inARow = 0;
  }
  tooMany(started: number, now: number): number | undefined {
    if (started <= this.#pausedAt) return undefined;
    this.#probing = false;
    this.#pausedAt = now;
    const most = Math.min(30_000, 1000 * 2 ** this.#inARow++);
    this.#until = now + most * (1 - this.jitter * this.options.random());
    return this.#until - now;
  }
}

/** A rate that every 429 halves and every second raises a little, without any pause: as TCP does it. */
class HalvedRate implements BackOff {
  #halvedAt = -Infinity;
  /** Requests a second. */
  #rate = Infinity;
  #next = 0;

  constructor(private readonly options: BackOffOptions) {}

  msToWait(now: number): number {
    return Math.max(0, this.#next - now);
  }
  start(now: number): void {
    this.#next = now + this.#distance();
  }
  end(_: number, letIn: boolean): void {
    if (letIn) this.#rate += 1 / 60 / this.#rate;
  }
  tooMany(started: number, now: number): number | undefined {
    if (started <= this.#halvedAt) return undefined;
    this.#halvedAt = now;
    this.#rate = Math.max(0.1, Math.min(this.#rate, this.options.limit / 60) / 2);
    this.#next = now + this.#distance();
    return this.#next - now;
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
