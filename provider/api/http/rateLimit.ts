/**
 * The service's rate limit as this client keeps it (G6): a sliding window for each endpoint, which is a
 * method and a path ("Limits"), and a back-off after a 429. If the requests of an endpoint can't explain
 * a 429, the service counts by path, or others use the token too. From then on the endpoints of that path
 * are counted together, get permits at even distances, and take turns.
 */
import { notNeeded } from "../../abort";
import { KeyedLocks } from "../../locks";
import type { ClientOptions, CreatePermit } from "../client";

type Options = Pick<ClientOptions, "clock" | "random" | "requestsPerMinute" | "onSlowedDown">;

const windowMs = 60_000;
/** The part of the service's limit that is used. The rest is left to other users of the token. */
const usedPart = 0.95;
/** Requests that fill less than this part of the limit don't explain a 429. */
const explainingPart = 0.9;
/**
 * How many permits for other methods than GET may be out. Each POST has a connection of its own, and all
 * of them would meet the same 429. A hundred fill the documented limit unless a response takes over 6 s.
 */
const maxWritesUnderWay = 100;
const firstPauseMs = 1000;
const longestPauseMs = 30_000;
/** Part of the limit: the lowest rate after a 429, and what each second without a 429 adds to the rate. */
const rateStep = 0.01;

/** How a request ended. */
export interface RequestEnd {
  /** Whether the first byte left this machine. A request that was not sent does not count. */
  sent: boolean;
  /** The HTTP status; undefined if no response came. */
  status?: number;
  /** How long a 429 asks to wait, if it does. */
  retryAfterMs?: number | undefined;
}

/** Lets one request go. */
export interface Permit extends CreatePermit {
  /** Returns what has to be called at the end of the request; undefined if used or released before. */
  use(): ((end: RequestEnd) => void) | undefined;
}

/**
 * Resolves when a request may be sent, and rejects with the signal's reason if that comes first. `path`
 * is a template if the path holds an id.
 */
export type AcquirePermit = (method: string, path: string, signal: AbortSignal) => Promise<Permit>;

/** Makes the rate limit of one client. Two clients do not know of each other. */
export function createRateLimit(options: Options): AcquirePermit {
  const { clock, random, requestsPerMinute, onSlowedDown } = options;
  const limit = Math.max(1, Math.floor(requestsPerMinute * usedPart));
  const endpoints: Endpoint[] = [];
  const pathsCountedTogether = new Set<string>();
  const queues = new KeyedLocks();
  let requestEnded = new AbortController();

  return (method, path, signal) => {
    const known = endpoints.find((it) => it.method === method && it.path === path);
    const endpoint = known ?? new Endpoint(method, path, limit, random);
    if (!known) endpoints.push(endpoint);
    // First come, first served.
    return queues.run(`${method} ${path}`, signal, async () => {
      endpoint.isWaiting = true;
      try {
        for (let ms = msToWait(endpoint); ms > 0; ms = msToWait(endpoint)) {
          const wake = AbortSignal.any([signal, requestEnded.signal]);
          // No longer than a minute, since `ms` may be Infinity.
          await clock.sleep(Math.min(ms, windowMs), wake).catch(() => signal.throwIfAborted());
        }
      } finally {
        endpoint.isWaiting = false;
      }
      return permitFor(endpoint);
    });
  };

  /** How long until this endpoint may have a permit. Infinity: until a request under way ends. */
  function msToWait(endpoint: Endpoint): number {
    const now = clock.now();
    const { method, underWay } = endpoint;
    if (method !== "GET" && underWay >= maxWritesUnderWay) return Infinity;
    const isFull = requestsInWindow(endpoint, now) >= limit;
    const ends = countedWith(endpoint).map(({ endTimes: [first = Infinity] }) => first);
    const toFreeMs = isFull ? Math.min(...ends) + windowMs + 1 - now : 0;
    return Math.max(toFreeMs, msToSlot(endpoint, now), endpoint.msToWait(now));
  }

  /**
   * Endpoints that are counted together go at even distances and take turns. Otherwise a burst of one would
   * use up the window, and keep the others out for a minute.
   */
  function msToSlot(endpoint: Endpoint, now: number): number {
    const counted = countedWith(endpoint);
    if (counted.length === 1) return 0;
    const slotMs = windowMs / limit;
    const lastPermitAt = Math.max(...counted.map((it) => it.lastPermitAt));
    const turns = counted.filter((it) => it.isWaiting && it.msToWait(now) <= 0).length;
    return Math.max(lastPermitAt + slotMs, endpoint.lastPermitAt + turns * slotMs) - now;
  }

  function countedWith(endpoint: Endpoint): Endpoint[] {
    if (!pathsCountedTogether.has(endpoint.path)) return [endpoint];
    return endpoints.filter(({ path }) => path === endpoint.path);
  }

  function requestsInWindow(endpoint: Endpoint, now: number): number {
    return countedWith(endpoint).reduce((sum, it) => sum + it.requestsInWindow(now), 0);
  }

  function permitFor(endpoint: Endpoint): Permit {
    endpoint.start(clock.now());
    let isPending = true;
    const use = () => {
      if (!isPending) return undefined;
      isPending = false;
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
 * The window and the back-off of one endpoint. After a 429 comes a pause, then one request at a time until
 * one is not refused, then even distances that grow shorter. A burst after the pause would take all that
 * came free, and keep out others who share the token and want a single request (docs/scaling.md).
 */
class Endpoint {
  readonly method: string;
  readonly path: string;
  /** Whether a request waits for the next permit. */
  isWaiting = false;
  lastPermitAt = -Infinity;
  /** Permits whose request has not ended. */
  underWay = 0;
  /** When the requests of the last minute ended, in that order. */
  readonly endTimes: number[] = [];
  readonly #perSecond: number;
  readonly #random: () => number;
  /** Pauses since a request was last answered with another status than 429. */
  #pausesInARow = 0;
  #pausedUntil = 0;
  /** Whether the one request is under way that shows if the pause was long enough. */
  #isProbing = false;
  /** Part of the limit at which requests go; at 1 there are no distances. */
  #rate = 1;
  #distanceMs = 0;

  constructor(method: string, path: string, requestsPerMinute: number, random: () => number) {
    this.method = method;
    this.path = path;
    this.#perSecond = requestsPerMinute / 60;
    this.#random = random;
  }

  /** A request counts from its permit until a minute after its end. The service counts it in between. */
  requestsInWindow(now: number): number {
    while ((this.endTimes[0] ?? now) < now - windowMs) this.endTimes.shift();
    return this.underWay + this.endTimes.length;
  }

  /** How long the back-off holds the next request. Infinity: until a request under way ends. */
  msToWait(now: number): number {
    if (this.#pausesInARow === 0) return this.lastPermitAt + this.#distanceMs - now;
    // A request under way is the probe, or began before the pause and would be taken for the probe.
    return this.underWay > 0 ? Infinity : this.#pausedUntil - now;
  }

  start(now: number): void {
    this.underWay++;
    this.#isProbing = this.#pausesInARow > 0;
    this.lastPermitAt = now;
    const evenMs = 1000 / (this.#rate * this.#perSecond);
    this.#distanceMs = this.#rate < 1 ? evenMs * (0.5 + this.#random()) : 0;
  }

  /** Returns the length of the pause that begins; undefined if none does. */
  end(now: number, { sent, status, retryAfterMs }: RequestEnd): number | undefined {
    this.underWay--;
    if (sent) this.endTimes.push(now);
    if (this.#pausesInARow > 0 && !this.#isProbing) {
      // It began before the pause: its 429 belongs to the same burst, and its success proves nothing.
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
    const ownMs = firstPauseMs * 2 ** this.#pausesInARow * (0.75 + this.#random() / 2);
    const pauseMs = retryAfterMs ?? Math.min(longestPauseMs, ownMs);
    this.#pausesInARow++;
    this.#pausedUntil = now + pauseMs;
    return pauseMs;
  }
}
