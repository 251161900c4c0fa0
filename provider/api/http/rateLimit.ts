/**
 * Keeps the client below the service's rate limit (G6). Each endpoint, which is a method and a path (section "Limits"),
 * has a sliding window of a minute, and a back-off after a 429. If the client has sent too few requests to an endpoint to
 * explain a 429, the service counts all methods of the path together, or other clients use the token too. From then on,
 * the endpoints of that path share one window, get permits at even intervals and take turns.
 */
import { notNeeded } from "../../abort";
import { KeyedLocks } from "../../locks";
import type { ClientOptions, PostPermit } from "../client";

type RateLimitOptions = Pick<
  ClientOptions,
  "clock" | "random" | "requestsPerMinute" | "onSlowedDown"
>;

const windowMs = 60_000;
/** The part of the service's limit that this client uses. */
const usedPart = 0.95;
/** The client's own requests explain a 429 if they fill at least this part of the client's limit. */
const explainingPart = 0.9;
/**
 * How many permits of an endpoint can be in use at a time, for methods other than GET. Otherwise a burst would open
 * hundreds of connections, one for each POST. A hundred use the whole limit unless a response takes more than 6 s.
 */
const maxWritesUnderWay = 100;
/** About the length of the first pause after a 429 without Retry-After. Each further pause in a row is twice as long. */
const firstPauseMs = 1000;
const maxPauseMs = 30_000;
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
}

/** Allows one request of any method. */
export interface Permit extends PostPermit {
  /** Returns a function to be called when the request has ended, or undefined if the permit was used or released. */
  use(): ((end: RequestEnd) => void) | undefined;
}

/** Resolves when a request may be sent, or rejects with the signal's reason. `path` is the template of a path with an id. */
export type AcquirePermit = (method: string, path: string, signal: AbortSignal) => Promise<Permit>;

/** Makes the rate limit of one client. */
export function createRateLimit(options: RateLimitOptions): AcquirePermit {
  const { clock, random, requestsPerMinute, onSlowedDown } = options;
  const limit = Math.max(1, Math.floor(requestsPerMinute * usedPart));
  const endpoints: Endpoint[] = [];
  const pathsCountedTogether = new Set<string>();
  const queues = new KeyedLocks();
  /** Aborted and replaced whenever a request ends, so that waiting requests compute their wait anew. */
  let requestEnded = new AbortController();

  return (method, path, signal) => {
    const existing = endpoints.find((it) => it.method === method && it.path === path);
    const endpoint = existing ?? new Endpoint(method, path, limit, random);
    if (!existing) endpoints.push(endpoint);
    return queues.run(`${method} ${path}`, signal, async () => {
      endpoint.isWaiting = true;
      try {
        for (let waitMs = msToWait(endpoint); waitMs > 0; waitMs = msToWait(endpoint)) {
          const wake = AbortSignal.any([signal, requestEnded.signal]);
          // Each sleep lasts at most a minute, since `waitMs` may be Infinity.
          await clock.sleep(Math.min(waitMs, windowMs), wake).catch(() => signal.throwIfAborted());
        }
      } finally {
        endpoint.isWaiting = false;
      }
      return permitFor(endpoint);
    });
  };

  /** Milliseconds until this endpoint may get a permit. Infinity if a request under way has to end first. */
  function msToWait(endpoint: Endpoint): number {
    const now = clock.now();
    const { method, underWay } = endpoint;
    if (method !== "GET" && underWay >= maxWritesUnderWay) return Infinity;
    const isFull = requestsInWindow(endpoint, now) >= limit;
    const oldestEnds = countedWith(endpoint).map(({ endTimes: [oldest = Infinity] }) => oldest);
    const windowWaitMs = isFull ? Math.min(...oldestEnds) + windowMs + 1 - now : 0;
    return Math.max(windowWaitMs, msToTurn(endpoint, now), endpoint.msToBackoffEnd(now));
  }

  /** Milliseconds until the endpoint's turn. Without turns, a burst of one endpoint would fill the common window. */
  function msToTurn(endpoint: Endpoint, now: number): number {
    const group = countedWith(endpoint);
    if (group.length === 1) return 0;
    const intervalMs = windowMs / limit;
    const lastPermitAt = Math.max(...group.map((it) => it.lastPermitAt));
    const waitingCount = group.filter((it) => it.isWaiting && it.msToBackoffEnd(now) <= 0).length;
    return (
      Math.max(lastPermitAt + intervalMs, endpoint.lastPermitAt + waitingCount * intervalMs) - now
    );
  }

  /** The endpoints that share the endpoint's window, including itself. */
  function countedWith(endpoint: Endpoint): Endpoint[] {
    if (!pathsCountedTogether.has(endpoint.path)) return [endpoint];
    return endpoints.filter(({ path }) => path === endpoint.path);
  }

  function requestsInWindow(endpoint: Endpoint, now: number): number {
    return countedWith(endpoint).reduce((sum, it) => sum + it.requestsInWindow(now), 0);
  }

  function permitFor(endpoint: Endpoint): Permit {
    endpoint.start(clock.now());
    let isUnused = true;
    const use = () => {
      if (!isUnused) return undefined;
      isUnused = false;
      return (end: RequestEnd) => endRequest(endpoint, end);
    };
    return { use, release: () => use()?.({ sent: false }) };
  }

  function endRequest(endpoint: Endpoint, end: RequestEnd): void {
    const now = clock.now();
    const { method, path } = endpoint;
    const pauseMs = endpoint.end(now, end);
    const isExplained = requestsInWindow(endpoint, now) >= limit * explainingPart;
    if (end.status === 429 && !isExplained) pathsCountedTogether.add(path);
    if (pauseMs !== undefined) onSlowedDown?.({ method, path, retryInMs: pauseMs });
    requestEnded.abort(notNeeded);
    requestEnded = new AbortController();
  }
}

/**
 * The window and the back-off of one endpoint. A 429 begins a pause. After it, requests are sent one at a time until one
 * has a response other than a 429, and then at intervals that become shorter. A burst instead would use up the rest of
 * the limit at once, and other clients with this token could not send a single request (docs/scaling.md).
 */
class Endpoint {
  readonly method: string;
  readonly path: string;
  /** Whether a request waits for the next permit. */
  isWaiting = false;
  lastPermitAt = -Infinity;
  /** How many permits have a request that has not ended. */
  underWay = 0;
  /** When the sent requests of the last minute ended, oldest first. */
  readonly endTimes: number[] = [];
  readonly #perSecond: number;
  readonly #random: () => number;
  /** The number of pauses in a row, without a response other than a 429 in between. */
  #pausesInARow = 0;
  #pausedUntil = 0;
  /** Whether the probe is under way: the request that shows if the pause was long enough. */
  #isProbing = false;
  /** A part of the limit. At 1, there are no intervals between requests. */
  #rate = 1;
  /** The shortest time between the last permit and the next one. */
  #intervalMs = 0;

  constructor(method: string, path: string, requestsPerMinute: number, random: () => number) {
    this.method = method;
    this.path = path;
    this.#perSecond = requestsPerMinute / 60;
    this.#random = random;
  }

  /**
   * The number of requests that count now. A sent request counts until a minute after its end, since the service counts
   * it at some moment between permit and end.
   */
  requestsInWindow(now: number): number {
    while ((this.endTimes[0] ?? now) < now - windowMs) this.endTimes.shift();
    return this.underWay + this.endTimes.length;
  }

  /** Milliseconds until the back-off allows a request. Infinity if a request has to end first. */
  msToBackoffEnd(now: number): number {
    if (this.#pausesInARow === 0) return this.lastPermitAt + this.#intervalMs - now;
    // The request under way is the probe, or began before the pause and has to end before the probe begins.
    return this.underWay > 0 ? Infinity : this.#pausedUntil - now;
  }

  start(now: number): void {
    this.underWay++;
    this.#isProbing = this.#pausesInARow > 0;
    this.lastPermitAt = now;
    const evenIntervalMs = 1000 / (this.#rate * this.#perSecond);
    this.#intervalMs = this.#rate < 1 ? evenIntervalMs * (0.5 + this.#random()) : 0;
  }

  /** Returns the length of the pause that the end of a request begins, or undefined if it begins none. */
  end(now: number, { sent, status, retryAfterMs }: RequestEnd): number | undefined {
    this.underWay--;
    if (sent) this.endTimes.push(now);
    if (this.#pausesInARow > 0 && !this.#isProbing) {
      // The request began before the pause. Its 429 is of the burst that caused the pause, and its success proves nothing.
      if (retryAfterMs) this.#pausedUntil = Math.max(this.#pausedUntil, now + retryAfterMs);
      return undefined;
    }
    this.#isProbing = false;
    if (status === undefined) return undefined;
    if (status !== 429) {
      this.#pausesInARow = 0;
      this.#rate = Math.min(1, this.#rate + rateStep / (this.#rate * this.#perSecond));
      return undefined;
    }
    if (this.#pausesInARow === 0) this.#rate = Math.max(rateStep, this.#rate / 2);
    const backoffMs = firstPauseMs * 2 ** this.#pausesInARow * (0.75 + this.#random() / 2);
    const pauseMs = retryAfterMs ?? Math.min(maxPauseMs, backoffMs);
    this.#pausesInARow++;
    this.#pausedUntil = now + pauseMs;
    return pauseMs;
  }
}
