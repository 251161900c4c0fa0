/** The rate limit of one path (G6). */
import type { Clock } from "../../clock";
import { SlowDown } from "./slowDown";

export type Priority = "write" | "read";

/** How a request ended, as far as the limit is concerned. */
export type Ending =
  /** Nothing was sent: it does not count. */
  | { sent: false }
  /** Sent; `answered` when the service let it in. */
  | { sent: true; answered: boolean }
  /** A 429, with the pause the service asks for, if it does. */
  | { sent: true; tooMany: true; retryAfterMs: number | undefined };

export interface Permit {
  end(ending: Ending): void;
}

interface Waiter {
  grant: (permit: Permit) => void;
}

export interface PathLimiterOptions {
  clock: Clock;
  random: () => number;
  /** Requests in any `windowMs`. */
  limit: number;
  onSlowedDown: (retryInMs: number) => void;
}

const windowMs = 60_000;

export class PathLimiter {
  readonly #options: PathLimiterOptions;
  readonly #slowDown: SlowDown;
  /** FIFO each; writes go before reads (G6). */
  readonly #waiting: Record<Priority, Set<Waiter>> = { write: new Set(), read: new Set() };
  /** Requests granted and not ended yet. */
  #underWay = 0;
  /** When the requests of the last window ended, oldest first. */
  #ended: number[] = [];
  #alarm: { at: number; off: AbortController } | undefined;

  constructor(options: PathLimiterOptions) {
    this.#options = options;
    this.#slowDown = new SlowDown(options);
  }

  /** Resolves when a request may be sent; rejects with the signal's reason while it waits. */
  enter(priority: Priority, signal: AbortSignal): Promise<Permit> {
    const { promise, resolve, reject } = Promise.withResolvers<Permit>();
    if (signal.aborted) {
      reject(signal.reason as Error);
      return promise;
    }
    const queue = this.#waiting[priority];
    const onAbort = () => {
      queue.delete(waiter);
      reject(signal.reason as Error);
      this.#admit();
    };
    const waiter: Waiter = {
      grant: (permit) => {
        queue.delete(waiter);
        signal.removeEventListener("abort", onAbort);
        resolve(permit);
      },
    };
    signal.addEventListener("abort", onAbort, { once: true });
    queue.add(waiter);
    this.#admit();
    return promise;
  }

  #admit(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      const wait = this.#msToWait(this.#options.clock.now());
      if (wait > 0) return this.#wakeIn(wait);
      next.grant(this.#permit());
    }
    this.#wakeIn(Infinity);
  }

  #next(): Waiter | undefined {
    for (const queue of [this.#waiting.write, this.#waiting.read]) {
      for (const waiter of queue) return waiter;
    }
    return undefined;
  }

  /** 0: go; Infinity: when a request under way ends. */
  #msToWait(now: number): number {
    const pause = this.#slowDown.msToWait(now);
    if (pause > 0) return pause;
    const firstKept = this.#ended.findIndex((at) => now - at <= windowMs);
    this.#ended.splice(0, firstKept < 0 ? this.#ended.length : firstKept);
    if (this.#underWay + this.#ended.length < this.#options.limit) return 0;
    const oldest = this.#ended[0];
    return oldest === undefined ? Infinity : oldest + windowMs + 1 - now;
  }

  /**
   * A request takes its place from now until a window after its end. The service counts it at some
   * moment between, so that no 60 seconds hold too many at either end of the wire.
   */
  #permit(): Permit {
    this.#underWay++;
    const ticket = this.#slowDown.start();
    return {
      end: (ending) => {
        this.#underWay--;
        const now = this.#options.clock.now();
        if (ending.sent) this.#ended.push(now);
        if ("tooMany" in ending) this.#slowDown.tooMany(ticket, now, ending.retryAfterMs);
        else this.#slowDown.end(ticket, ending.sent && ending.answered);
        this.#admit();
      },
    };
  }

  /** One alarm at most, and none when nobody waits: an idle client keeps no timer. */
  #wakeIn(ms: number): void {
    const { clock } = this.#options;
    const at = clock.now() + ms;
    if (this.#alarm?.at === at) return;
    this.#alarm?.off.abort();
    this.#alarm = undefined;
    if (ms === Infinity) return;
    const off = new AbortController();
    this.#alarm = { at, off };
    const ring = () => {
      if (this.#alarm?.off === off) this.#alarm = undefined;
      this.#admit();
    };
    clock.sleep(ms, off.signal).then(ring, () => undefined);
  }
}
