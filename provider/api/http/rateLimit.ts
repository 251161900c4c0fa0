/**
 * Keeps the client below the service's rate limit (G6). Each endpoint, which is a method and a path (section "Limits"), has a
 * token bucket.
 *
 * A request holds a token from its permit to its end, and then uses the token up. The service counts the request at some moment
 * in between. So no 60 seconds have more requests than a full bucket and the tokens of one minute.
 *
 * After a 429 the endpoint pauses. It then goes on with one token, and its bucket fills at half the rate, which grows back. A
 * burst instead would use up the rest of the limit at once, and keep other clients with this token waiting for minutes
 * (docs/scaling.md).
 */
import { notNeeded, raceAbort } from "../../abort";
import type { RequestError } from "../requestError";
import type { ClientOptions } from "../options";

const minuteMs = 60_000;
/** The part of the service's limit that this client uses. */
const usedPart = 0.95;
/**
 * The part of this that a bucket holds, and so how many requests wait for no token: 200 of the documented limit. The other 750 tokens
 * come in a minute. An `up` of 200 instances waits for nothing. A deeper bucket would get fewer tokens in each minute. Creates that
 * wait need a new listing each half minute, which takes up to 15 s: a smaller bucket would have no room for the tokens of that time.
 * Simulated: 1000 creates take 75 s with 200 tokens and 77 s with 100, and 2000 creates take 162 s with 200 and 175 s with 300.
 */
const depthPart = 4 / 19;
/** How many permits of an endpoint can be in use at a time. Otherwise a burst would open hundreds of connections, one for each POST. */
const maxUnderWay = 100;
/**
 * A bucket gets this part of a token more in a minute. The limit holds, since only whole requests are sent. A limit of 1 has no
 * other refill.
 */
const remainder = 0.9;
/**
 * About the length of the first pause after a 429 without Retry-After. Each further pause in a row is twice as long, up to
 * `maxPauseMs`.
 */
const firstPauseMs = 1000;
const maxPauseMs = 30_000;
/** Each 429 with Retry-After in a burst may make the pause a little longer. If it gets longer by this much, it is reported again. */
const reportedStepMs = 1000;
/** By how much the rate grows in each second of requests without a 429: a part of the full rate. */
const rateStep = 0.01;

/**
 * How a request ended: no byte of it left this machine, so that the service does not count it; no response came; the service
 * answered; or the service asked for a pause with this error. A 503 that asks for a pause is treated as a 429.
 */
export type RequestEnd = "unsent" | "unanswered" | "answered" | RequestError;

/** What the rate limit depends on. */
export type RateLimitOptions = Pick<
  ClientOptions,
  "clock" | "random" | "requestsPerMinute" | "onRetry"
>;

/** Allows one request, and holds a token until that ends. */
export interface Permit {
  /** Returns a function to be called when the request has ended. @throws Error if the permit was used or released */
  use(): (end: RequestEnd) => void;
  /** Returns an unused permit with its token. Does nothing if the permit was used or released. */
  release(): void;
}

/** The token bucket of one endpoint. */
class Bucket {
  readonly #options: RateLimitOptions;
  readonly #method: string;
  readonly #path: string;
  readonly #depth: number;
  /** Tokens per millisecond at the full rate. */
  readonly #refill: number;
  /** A part of the full rate. */
  #rate = 1;
  /** The number of tokens at the clock time `#filledAt`, with those that are held. */
  #level: number;
  /** A clock time. During a pause, it is the end of the pause, before which no request may be sent. */
  #filledAt: number;
  /** How many permits are out: neither released, nor with a request that has ended. Each holds a token. */
  #inUse = 0;
  /** The number of pauses in a row, without a response other than a 429 in between. */
  #pausesInARow = 0;
  /** Aborted and replaced when a permit has ended, so that the waiting request computes its wait anew. */
  #changed = new AbortController();
  /** Resolves when all requests so far have their permits, or have given up. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(method: string, path: string, options: RateLimitOptions) {
    const limit = Math.max(1, Math.floor(options.requestsPerMinute * usedPart));
    this.#options = options;
    this.#method = method;
    this.#path = path;
    this.#depth = Math.max(1, Math.round(limit * depthPart));
    this.#refill = (limit + remainder - this.#depth) / minuteMs;
    this.#level = this.#depth;
    this.#filledAt = options.clock.now();
  }

  /** As `RateLimit.acquirePermit`. */
  permit(signal: AbortSignal): Promise<Permit> {
    const earlier = this.#queue;
    const permit = raceAbort(earlier, signal).then(() => this.#next(signal));
    // If this request gives up, the next request must still wait for the earlier ones.
    this.#queue = Promise.allSettled([earlier, permit]);
    return permit;
  }

  /** Resolves when the first request of the queue may be sent. */
  async #next(signal: AbortSignal): Promise<Permit> {
    const { clock } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const waitMs = this.#freeAt() - clock.now();
      if (waitMs <= 0) return this.#take();
      const wake = AbortSignal.any([signal, this.#changed.signal]);
      await clock.sleep(waitMs, wake).catch(() => undefined);
    }
  }

  /** The clock time from which another token is free. Infinity if a request has to end first. */
  #freeAt(): number {
    this.#fill();
    if (this.#inUse >= Math.min(this.#depth, maxUnderWay)) return Infinity;
    const missing = Math.max(0, this.#inUse + 1 - this.#level);
    return this.#filledAt + Math.ceil(missing / (this.#rate * this.#refill));
  }

  #fill(): void {
    const ms = Math.max(0, this.#options.clock.now() - this.#filledAt);
    this.#level = Math.min(this.#depth, this.#levelAfter(ms));
    this.#filledAt += ms;
  }

  #levelAfter(ms: number): number {
    return this.#level + ms * this.#rate * this.#refill;
  }

  #take(): Permit {
    this.#inUse++;
    const pausesBefore = this.#pausesInARow;
    let isUnused = true;
    const use = () => {
      if (!isUnused) throw new Error("the permit was used up or given back");
      isUnused = false;
      return (end: RequestEnd) => this.#endRequest(end, pausesBefore);
    };
    return { use, release: () => isUnused && use()("unsent") };
  }

  /** `pausesBefore` is the number of pauses in a row when the request was permitted. */
  #endRequest(end: RequestEnd, pausesBefore: number): void {
    this.#fill();
    this.#inUse--;
    if (end !== "unsent") this.#level--;
    // If the request is from before the pause, its 429 belongs to the burst that caused the pause, and its success proves nothing.
    const isNew = this.#pausesInARow === pausesBefore;
    if (typeof end === "object") {
      this.#pause(end, isNew);
    } else if (end === "answered" && isNew) {
      this.#pausesInARow = 0;
      const requestsPerSecond = this.#rate * this.#refill * 1000;
      this.#rate = Math.min(1, this.#rate + rateStep / requestsPerSecond);
    }
    this.#changed.abort(notNeeded);
    this.#changed = new AbortController();
  }

  /** Begins a pause. If a pause has begun since the request was permitted, that pause only gets longer. */
  #pause(error: RequestError, isNew: boolean): void {
    const { clock, random, onRetry } = this.#options;
    const { retryAfterMs = 0 } = error;
    if (isNew && this.#pausesInARow === 0) this.#rate /= 2;
    const backoffMs = firstPauseMs * 2 ** this.#pausesInARow * (0.75 + random() / 2);
    const inMs = retryAfterMs || (isNew ? Math.min(maxPauseMs, backoffMs) : 0);
    if (isNew) this.#pausesInARow++;
    const longerByMs = Math.max(0, clock.now() + inMs - this.#filledAt);
    // When the pause ends, one token is free at most.
    this.#level = Math.min(this.#inUse + 1, this.#levelAfter(longerByMs));
    this.#filledAt += longerByMs;
    const [method, path, isAsked] = [this.#method, this.#path, retryAfterMs > 0];
    if (isNew || longerByMs >= reportedStepMs) onRetry?.({ method, path, error, inMs, isAsked });
  }
}

/** The rate limit of one client. */
export class RateLimit {
  readonly #options: RateLimitOptions;
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  /**
   * Resolves when a request may be sent, and all earlier requests to the endpoint have got their permits, or rejects with the
   * signal's reason. `path` is the template of a path with an id.
   */
  acquirePermit(method: string, path: string, signal: AbortSignal): Promise<Permit> {
    const endpoint = `${method} ${path}`;
    const bucket = this.#buckets.get(endpoint) ?? new Bucket(method, path, this.#options);
    this.#buckets.set(endpoint, bucket);
    return bucket.permit(signal);
  }
}
