/**
 * Keeps the client below the service's rate limit (G6). Each endpoint, which is a method and a path (section "Limits"), has a
 * token bucket, and a back-off after a 429. If the client has sent too few requests to an endpoint to explain a 429, the
 * service counts all methods of the path together, or other clients use the token too. From then on, the endpoints of that path
 * share one bucket, and take turns.
 *
 * A request holds a token from its permit on, and uses it up when it ends, since the service counts it at some moment in
 * between. So what a bucket holds, and what it gets in 60 seconds, bound the requests of any 60 seconds.
 *
 * A 429 begins a pause. After it, requests are sent one at a time until one has a response other than a 429, and then at
 * intervals that become shorter. A burst instead would use up the rest of the limit at once, and keep other clients with this
 * token waiting for minutes (docs/scaling.md).
 */
import { notNeeded } from "../../abort";
import type { Clock } from "../../clock";
import { KeyedLocks } from "../../locks";
import type { RequestError } from "../errors";

const minuteMs = 60_000;
/** The part of the service's limit that this client uses. */
const usedPart = 0.95;
/**
 * How much of that a bucket holds, and so how many requests may go at once: 200 of the documented limit. The rest, 750, comes in
 * a minute. An `up` of 200 instances waits for nothing. A deeper bucket leaves less for each further minute. Each half minute
 * those who wait need a new listing, of up to 15 s, and what comes meanwhile has to fit in. Simulated: 1000 creates take 73 s
 * with 150 or 200 and 85 s with 100, and 2000 take 162 s with 200 and 186 s with 300.
 */
const depthPart = 4 / 19;
/**
 * How many permits of an endpoint can be in use at a time, for methods other than GET. Otherwise a burst would open
 * hundreds of connections, one for each POST.
 */
const maxWritesUnderWay = 100;
/** Only whole requests are sent, so nearly one more in a minute is within the limit. A limit of 1 lives on it. */
const remainder = 0.9;
/** The client's own requests of the last minute explain a 429 if they are at least this part of what a bucket gets in it. */
const explainingPart = 0.9;
/**
 * About the length of the first pause after a 429 without Retry-After. Each further pause in a row is twice as long, up to
 * `maxPauseMs`.
 */
const firstPauseMs = 1000;
const maxPauseMs = 30_000;
/** Each 429 with Retry-After in a burst may make the pause a little longer. It is reported again only if that is this much. */
const reportedStepMs = 1000;
/** The lowest rate after a 429, and by how much it grows in each second of requests without a 429: a part of the limit. */
const rateStep = 0.01;

/** How a request ended. */
export interface RequestEnd {
  /** Whether its first byte was about to leave this machine. Otherwise the request does not count towards the limit. */
  sent: boolean;
  /** The HTTP status. Undefined if no response came. */
  status?: number;
  /** The wait that a 429 asks for with Retry-After. */
  retryAfterMs?: number | undefined;
  /** The error for a status other than 2xx. */
  failure?: RequestError | undefined;
}

/** A pause of an endpoint after a 429. */
interface Pause {
  method: string;
  /** As in `Retry`, like `isAsked`. */
  path: string;
  /** How long it lasts from now on. */
  inMs: number;
  isAsked: boolean;
  failure?: RequestError | undefined;
}

/** What the rate limit depends on. The first three are as in `ClientOptions`. */
export interface RateLimitOptions {
  clock: Clock;
  random: () => number;
  requestsPerMinute: number;
  /** Called when a pause begins, and when another 429 makes it longer by a second or more. */
  onPause?: (pause: Pause) => void;
}

/** Allows one request, and holds a token until that ends. */
export interface Permit {
  /** Returns a function to be called when the request has ended, or undefined if the permit was used or released. */
  use(): ((end: RequestEnd) => void) | undefined;
  /** Returns an unused permit with its token. Does nothing if the permit was used or released. */
  release(): void;
}

/**
 * The front of an endpoint's queue. Disposing of it lets the next one go on. Who has to send another request first does so
 * at the front, without a permit. If such permits held all tokens, that other request could have to wait for them.
 */
export interface Front extends Disposable {
  /**
   * Resolves when a request may be sent, or rejects with the signal's reason. Resolves to undefined if `isReady` returns false
   * now, so that what is missing is done while the limit allows no request, or then.
   */
  permit(signal: AbortSignal, isReady: () => boolean): Promise<Permit | undefined>;
}

/** The tokens of one endpoint, or of all endpoints of a path. */
class Bucket {
  readonly #clock: Clock;
  readonly #depth: number;
  /** Tokens per millisecond. */
  readonly #refill: number;
  #level: number;
  #filledAt: number;
  /** How many permits are out: neither released, nor with a request that has ended. Each holds a token. */
  #held = 0;
  /** When the sent requests of the last minute ended, oldest first. */
  #endTimes: number[] = [];

  /** `limit` is how many requests any minute may have. */
  constructor(clock: Clock, limit: number) {
    this.#clock = clock;
    this.#depth = Math.max(1, Math.round(limit * depthPart));
    this.#refill = (limit + remainder - this.#depth) / minuteMs;
    this.#level = this.#depth;
    this.#filledAt = clock.now();
  }

  /** Makes a bucket that has used up what these have, from new ones. */
  static shared(clock: Clock, limit: number, buckets: readonly Bucket[]): Bucket {
    const shared = new Bucket(clock, limit);
    for (const bucket of buckets) {
      bucket.#fill();
      shared.#level -= bucket.#depth - bucket.#level;
      shared.#held += bucket.#held;
    }
    shared.#endTimes = buckets.flatMap((bucket) => bucket.#endTimes).sort((a, b) => a - b);
    return shared;
  }

  /** The clock time from which so many tokens are free. Infinity if a request has to end first. */
  timeOf(count: number): number {
    this.#fill();
    const needed = count + this.#held;
    if (needed > this.#depth) return Infinity;
    return this.#filledAt + Math.ceil(Math.max(0, needed - this.#level) / this.#refill);
  }

  take(): void {
    this.#held++;
  }

  giveBack(isUsed: boolean): void {
    this.#held--;
    if (!isUsed) return;
    this.#fill();
    this.#level--;
    this.#endTimes.push(this.#clock.now());
  }

  /** Whether the requests of the last minute explain a 429. One alone does not explain its own, not even at the lowest limit. */
  get explains429(): boolean {
    const since = this.#clock.now() - minuteMs;
    while ((this.#endTimes[0] ?? since) < since) this.#endTimes.shift();
    const count = this.#held + this.#endTimes.length;
    return count > 1 && count >= this.#refill * minuteMs * explainingPart;
  }

  #fill(): void {
    const now = this.#clock.now();
    const filled = this.#level + (now - this.#filledAt) * this.#refill;
    [this.#level, this.#filledAt] = [Math.min(this.#depth, filled), now];
  }
}

/** The back-off of one endpoint. */
class Endpoint {
  /** Whether a request waits for the next permit. */
  isWaiting = false;
  lastPermitAt = -Infinity;
  /** How many permits are out. */
  underWay = 0;
  /** The number of pauses in a row, without a response other than a 429 in between. */
  pausesInARow = 0;
  pausedUntil = 0;
  /** A part of the limit. At 1, there are no intervals between requests. */
  rate = 1;
  /** The shortest time between the last permit and the next one. */
  intervalMs = 0;

  constructor(
    readonly method: string,
    readonly path: string,
    public bucket: Bucket,
  ) {}

  /** The clock time from which the back-off allows a request. Infinity if a request has to end first. */
  get backoffEnd(): number {
    if (this.pausesInARow === 0) return this.lastPermitAt + this.intervalMs;
    // The request under way is either the test after the pause, or began before the pause. Both have to end first.
    return this.underWay > 0 ? Infinity : this.pausedUntil;
  }
}

/** The rate limit of one client. */
export class RateLimit {
  readonly #options: RateLimitOptions;
  readonly #limit: number;
  readonly #endpoints: Endpoint[] = [];
  readonly #queues = new KeyedLocks();
  /** By path: the buckets that all methods share. */
  readonly #shared = new Map<string, Bucket>();
  /** Aborted and replaced when a wait may have become shorter, so that waiting requests compute it anew. */
  #changed = new AbortController();

  constructor(options: RateLimitOptions) {
    this.#options = options;
    this.#limit = Math.max(1, Math.floor(options.requestsPerMinute * usedPart));
  }

  /**
   * Resolves once all earlier requests to the endpoint have left its queue, or rejects with the signal's reason. `path` is the
   * template of a path with an id.
   */
  reachFront(method: string, path: string, signal: AbortSignal): Promise<Front> {
    const endpoint = this.#endpointOf(method, path);
    const reached = Promise.withResolvers<Front>();
    const left = Promise.withResolvers<void>();
    const queued = this.#queues.run(`${method} ${path}`, signal, () => {
      reached.resolve({
        permit: async (permitSignal, isReady) => {
          if (!isReady()) return undefined;
          const take = () => (isReady() ? this.#permitFor(endpoint) : undefined);
          return await this.#whenFree(endpoint, permitSignal, take);
        },
        [Symbol.dispose]: left.resolve,
      });
      return left.promise;
    });
    queued.catch(reached.reject);
    return reached.promise;
  }

  /** Resolves when a request may be sent, or rejects with the signal's reason. `path` is as for `reachFront`. */
  acquirePermit(method: string, path: string, signal: AbortSignal): Promise<Permit> {
    const endpoint = this.#endpointOf(method, path);
    const take = () => this.#permitFor(endpoint);
    return this.#queues.run(`${method} ${path}`, signal, () =>
      this.#whenFree(endpoint, signal, take),
    );
  }

  #endpointOf(method: string, path: string): Endpoint {
    const known = this.#endpoints.find((one) => one.method === method && one.path === path);
    if (known) return known;
    const bucket = this.#shared.get(path) ?? new Bucket(this.#options.clock, this.#limit);
    const endpoint = new Endpoint(method, path, bucket);
    this.#endpoints.push(endpoint);
    return endpoint;
  }

  /** Calls `take` at a time at which the endpoint may get a permit, and resolves to its result. */
  async #whenFree<T>(endpoint: Endpoint, signal: AbortSignal, take: () => T): Promise<T> {
    const { clock } = this.#options;
    endpoint.isWaiting = true;
    try {
      for (;;) {
        signal.throwIfAborted();
        const waitMs = this.#permitAt(endpoint) - clock.now();
        if (waitMs <= 0) return take();
        const wake = AbortSignal.any([signal, this.#changed.signal]);
        // Each sleep lasts at most a minute, since `waitMs` may be Infinity.
        await clock.sleep(Math.min(waitMs, minuteMs), wake).catch(() => undefined);
      }
    } finally {
      endpoint.isWaiting = false;
    }
  }

  /** The clock time from which this endpoint may get a permit. Infinity if a request under way has to end first. */
  #permitAt(endpoint: Endpoint): number {
    if (endpoint.method !== "GET" && endpoint.underWay >= maxWritesUnderWay) return Infinity;
    const now = this.#options.clock.now();
    // Without turns, a burst of one endpoint would take all tokens of a common bucket.
    const ahead = this.#endpoints.filter(
      (other) =>
        other.bucket === endpoint.bucket &&
        other.isWaiting &&
        other.lastPermitAt < endpoint.lastPermitAt &&
        other.backoffEnd <= now,
    );
    return Math.max(endpoint.bucket.timeOf(1 + ahead.length), endpoint.backoffEnd);
  }

  #permitFor(endpoint: Endpoint): Permit {
    const { clock, random } = this.#options;
    const { bucket, rate, pausesInARow: pausesBefore } = endpoint;
    endpoint.underWay++;
    bucket.take();
    endpoint.lastPermitAt = clock.now();
    endpoint.intervalMs = rate < 1 ? (minuteMs / this.#limit / rate) * (0.5 + random()) : 0;
    let isUnused = true;
    const use = () => {
      if (!isUnused) return undefined;
      isUnused = false;
      return (end: RequestEnd) => this.#endRequest(endpoint, end, pausesBefore);
    };
    return { use, release: () => use()?.({ sent: false }) };
  }

  /** `pausesBefore` is the number of pauses in a row when the request was permitted. */
  #endRequest(endpoint: Endpoint, end: RequestEnd, pausesBefore: number): void {
    const { sent, status, retryAfterMs = 0, failure } = end;
    const now = this.#options.clock.now();
    endpoint.underWay--;
    endpoint.bucket.giveBack(sent);
    if (status === 429 && !endpoint.bucket.explains429) this.#share(endpoint.path);
    if (endpoint.pausesInARow !== pausesBefore) {
      // The request began before the pause. Its 429 is of the burst that caused the pause, and its success proves nothing.
      const isLonger = now + retryAfterMs >= endpoint.pausedUntil + reportedStepMs;
      endpoint.pausedUntil = Math.max(endpoint.pausedUntil, now + retryAfterMs);
      if (isLonger && retryAfterMs > 0) this.#report(endpoint, retryAfterMs, true, failure);
    } else if (status === 429) {
      this.#pause(endpoint, retryAfterMs, failure);
    } else if (status !== undefined) {
      endpoint.pausesInARow = 0;
      const requestsPerSecond = endpoint.rate * (this.#limit / 60);
      endpoint.rate = Math.min(1, endpoint.rate + rateStep / requestsPerSecond);
    }
    this.#changed.abort(notNeeded);
    this.#changed = new AbortController();
  }

  /** From now on, the methods of the path count together. */
  #share(path: string): void {
    if (this.#shared.has(path)) return;
    const group = this.#endpoints.filter((endpoint) => endpoint.path === path);
    const buckets = group.map(({ bucket }) => bucket);
    const shared = Bucket.shared(this.#options.clock, this.#limit, buckets);
    this.#shared.set(path, shared);
    for (const endpoint of group) endpoint.bucket = shared;
  }

  #pause(endpoint: Endpoint, retryAfterMs: number, failure?: RequestError): void {
    const { clock, random } = this.#options;
    const { rate, pausesInARow } = endpoint;
    if (pausesInARow === 0) endpoint.rate = Math.max(rateStep, rate / 2);
    const backoffMs = firstPauseMs * 2 ** pausesInARow * (0.75 + random() / 2);
    const pauseMs = retryAfterMs || Math.min(maxPauseMs, backoffMs);
    endpoint.pausesInARow++;
    endpoint.pausedUntil = clock.now() + pauseMs;
    this.#report(endpoint, pauseMs, retryAfterMs > 0, failure);
  }

  #report(
    { method, path }: Endpoint,
    inMs: number,
    isAsked: boolean,
    failure: RequestError | undefined,
  ): void {
    this.#options.onPause?.({ method, path, inMs, isAsked, failure });
  }
}
