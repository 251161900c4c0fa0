/** The rate limit of one path (G6). */
import type { Clock } from "../../clock";
import { Places } from "./places";
import { type BackOff, type BackOffOptions, SlowDown } from "./slowDown";

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
  priority: Priority;
  grant: (permit: Permit) => void;
}

export interface PathLimiterOptions {
  clock: Clock;
  random: () => number;
  /** Requests in any 60 seconds. */
  limit: number;
  onSlowedDown: (retryInMs: number) => void;
  /** Another choice than ours, for the comparison of docs/scaling.md. */
  backOff?: ((options: BackOffOptions) => BackOff) | undefined;
}

/**
 * Writes under way at a time. Each has a connection of its own, and all of them would run into the same
 * 429; this many use up the documented limit unless an answer takes over 6 s. Reads are few (G7), and
 * are not held up by writes that nobody answers.
 */
const mostWrites = 100;

/**
 * Of the limit's places, the share that goes out at even distances, to reads first: else a burst of
 * writes uses a whole window up, and nothing that has become ACTIVE meanwhile is seen before its end.
 */
const pacedShare = 0.1;

export class PathLimiter {
  readonly #options: PathLimiterOptions;
  readonly #slowDown: BackOff;
  /** The places in which a request goes as soon as it can, and those at even distances. */
  readonly #atOnce: Places;
  readonly #paced: Places;
  /** FIFO each; writes go before reads that are not due (G6). */
  readonly #waiting: Record<Priority, Set<Waiter>> = { write: new Set(), read: new Set() };
  /** Writes granted and not ended yet. */
  #writes = 0;
  /** When the last read went, or the last request in a paced place. */
  #lastPaced: number;
  #alarm: { at: number; off: AbortController } | undefined;

  constructor(options: PathLimiterOptions) {
    this.#options = options;
    const paced = Math.floor(options.limit * pacedShare);
    this.#paced = new Places(paced);
    this.#atOnce = new Places(options.limit - paced);
    this.#lastPaced = options.clock.now();
    this.#slowDown = options.backOff?.(options) ?? new SlowDown(options);
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
      priority,
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
    for (;;) {
      const now = this.#options.clock.now();
      const next = this.#next(now);
      const wait = next ? this.#msToWait(now) : Infinity;
      if (!next || wait > 0) return this.#wakeIn(wait);
      next.grant(this.#permit(next.priority, now));
    }
  }

  #next(now: number): Waiter | undefined {
    const read = first(this.#waiting.read);
    const write = this.#writes < mostWrites ? first(this.#waiting.write) : undefined;
    return this.#msToPaced(now) > 0 ? (write ?? read) : (read ?? write);
  }

  /** 0: go; Infinity: when a request under way ends. */
  #msToWait(now: number): number {
    const pause = this.#slowDown.msToWait(now);
    if (pause > 0) return pause;
    const paced = Math.max(this.#paced.msToFree(now), this.#msToPaced(now));
    return Math.min(this.#atOnce.msToFree(now), paced);
  }

  #msToPaced(now: number): number {
    return Math.max(0, this.#lastPaced + this.#paced.distanceMs - now);
  }

  #permit(priority: Priority, start: number): Permit {
    const writes = priority === "write" ? 1 : 0;
    const places = this.#atOnce.msToFree(start) === 0 ? this.#atOnce : this.#paced;
    if (priority === "read" || places === this.#paced) this.#lastPaced = start;
    places.take();
    this.#writes += writes;
    const ticket = this.#slowDown.start(start);
    return {
      end: (ending) => {
        this.#writes -= writes;
        const now = this.#options.clock.now();
        places.end(now, ending.sent);
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

function first<T>(set: ReadonlySet<T>): T | undefined {
  for (const item of set) return item;
  return undefined;
}
