/**
 * So many requests in any window (G6). A request takes its place from now until a window after its end:
 * the service counts it at some moment between, so that no 60 seconds hold too many at either end of the
 * wire.
 */
const windowMs = 60_000;

export class Places {
  readonly #count: number;
  #underWay = 0;
  /** When those that keep their place ended, oldest first. */
  #ended: number[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  /** The distance at which the places are used up evenly. */
  get distanceMs(): number {
    return windowMs / this.#count;
  }

  /** 0: one is free; Infinity: when a request under way ends. */
  msToFree(now: number): number {
    const firstKept = this.#ended.findIndex((at) => now - at <= windowMs);
    this.#ended.splice(0, firstKept < 0 ? this.#ended.length : firstKept);
    if (this.#underWay + this.#ended.length < this.#count) return 0;
    const [oldest = Infinity] = this.#ended;
    return oldest + windowMs + 1 - now;
  }

  take(): void {
    this.#underWay++;
  }

  /** What was never sent gives its place back at once. */
  end(now: number, sent: boolean): void {
    this.#underWay--;
    if (sent) this.#ended.push(now);
  }
}
