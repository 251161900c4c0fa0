/**
 * Keeps the client below the service's rate limit (G6). Each endpoint, which is a method and a path (section "Limits"),
 * has a sliding window of a minute, and a back-off after a 429. If the client has sent too few requests to an endpoint to
 * explain a 429, the service counts all methods of the path together, or other clients use the token too. From then on,
 * the endpoints of that path share one window. If there are several, they get permits at even intervals and take turns.
 *
 * A 429 begins a pause. After it, requests are sent one at a time until one has a response other than a 429, and then at
 * intervals that become shorter. A burst instead would use up the rest of the limit at once, and keep other clients with this
 * token waiting for minutes (docs/scaling.md).
 */
import { notNeeded } from "../../abort";
import type { Clock } from "../../clock";
import { KeyedLocks } from "../../locks";
import type { RequestError } from "../errors";

const windowMs = 60_000;
/** The part of the service's limit that this client uses. */
const usedPart = 0.95;
/** The client's own requests explain a 429 if they fill at least this part of the client's limit. */
const explainingPart = 0.9;
/**
 * How many permits of an endpoint can be in use at a time, for methods other than GET. Otherwise a burst would open
 * hundreds of connections, one for each POST. A hundred use the whole documented limit unless a response takes more than 6 s.
 */
const maxWritesUnderWay = 100;
/**
 * About the length of the first pause after a 429 without Retry-After. Each further pause in a row is twice as long, up to
 * `maxPauseMs`.
 */
const firstPauseMs = 1000;
const maxPauseMs = 30_000;
/** Each 429 of a burst makes the pause a little longer. The pause is reported again only if it gets longer by this much. */
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

/** Allows one request. Counts towards the limit until it ends and, if a byte was sent, for a minute after that. */
export interface Permit {
  /** Returns a function to be called when the request has ended, or undefined if the permit was used or released. */
  use(): ((end: RequestEnd) => void) | undefined;
  /** Returns an unused permit, which then no longer counts. Does nothing if the permit was used or released. */
  release(): void;
}

/**
 * The front of an endpoint's queue. Disposing of it lets the next one go on. Who has to send another request first does so
 * at the front, without a permit. If such permits filled a window, that other request could have to wait for them.
 */
export interface Front extends Disposable {
  /**
   * Resolves when a request may be sent, or rejects with the signal's reason. Resolves to undefined if `isReady` returns false
   * now, so that what is missing is done while the limit allows no request, or then.
   */
  permit(signal: AbortSignal, isReady: () => boolean): Promise<Permit | undefined>;
}

/** The window and the back-off of one endpoint. */
class Endpoint {
  /** Whether a request waits for the next permit. */
  isWaiting = false;
  lastPermitAt = -Infinity;
  /** How many permits are out: neither released, nor with a request that has ended. */
  underWay = 0;
  /** When the sent requests of the last minute ended, oldest first. */
  readonly endTimes: number[] = [];
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
  ) {}

  /** The clock time from which the back-off allows a request. Infinity if a request has to end first. */
  get backoffEnd(): number {
    if (this.pausesInARow === 0) return this.lastPermitAt + this.intervalMs;
    // The request under way is either the test after the pause, or began before the pause. Both have to end first.
    return this.underWay > 0 ? Infinity : this.pausedUntil;
  }
}

/** Makes the rate limit of one client. */
export function createRateLimit({ clock, random, requestsPerMinute, onPause }: RateLimitOptions) {
  const limit = Math.max(1, Math.floor(requestsPerMinute * usedPart));
  const evenIntervalMs = windowMs / limit;
  const endpoints: Endpoint[] = [];
  const pathsCountedTogether = new Set<string>();
  const queues = new KeyedLocks();
  /** Aborted and replaced whenever a request ends, so that waiting requests compute their wait anew. */
  let requestEnded = new AbortController();

  return { reachFront, acquirePermit };

  /**
   * Resolves once all earlier requests to the endpoint have left its queue, or rejects with the signal's reason. `path` is the
   * template of a path with an id.
   */
  function reachFront(method: string, path: string, signal: AbortSignal): Promise<Front> {
    const endpoint = endpointOf(method, path);
    const reached = Promise.withResolvers<Front>();
    const left = Promise.withResolvers<void>();
    const queued = queues.run(`${method} ${path}`, signal, () => {
      reached.resolve({
        permit: async (permitSignal, isReady) => {
          if (!isReady()) return undefined;
          const take = () => (isReady() ? permitFor(endpoint) : undefined);
          return await whenFree(endpoint, permitSignal, take);
        },
        [Symbol.dispose]: left.resolve,
      });
      return left.promise;
    });
    queued.catch(reached.reject);
    return reached.promise;
  }

  /** Resolves when a request may be sent, or rejects with the signal's reason. `path` is as for `reachFront`. */
  function acquirePermit(method: string, path: string, signal: AbortSignal): Promise<Permit> {
    const endpoint = endpointOf(method, path);
    const take = () => permitFor(endpoint);
    return queues.run(`${method} ${path}`, signal, () => whenFree(endpoint, signal, take));
  }

  function endpointOf(method: string, path: string): Endpoint {
    const existing = endpoints.find((known) => known.method === method && known.path === path);
    const endpoint = existing ?? new Endpoint(method, path);
    if (!existing) endpoints.push(endpoint);
    return endpoint;
  }

  /** Calls `take` at a time at which the endpoint may get a permit, and resolves to its result. */
  async function whenFree<T>(endpoint: Endpoint, signal: AbortSignal, take: () => T): Promise<T> {
    endpoint.isWaiting = true;
    try {
      for (;;) {
        signal.throwIfAborted();
        const waitMs = permitAt(endpoint) - clock.now();
        if (waitMs <= 0) return take();
        const wake = AbortSignal.any([signal, requestEnded.signal]);
        // Each sleep lasts at most a minute, since `waitMs` may be Infinity.
        await clock.sleep(Math.min(waitMs, windowMs), wake).catch(() => undefined);
      }
    } finally {
      endpoint.isWaiting = false;
    }
  }

  /** The clock time from which this endpoint may get a permit. Infinity if a request under way has to end first. */
  function permitAt(endpoint: Endpoint): number {
    if (endpoint.method !== "GET" && endpoint.underWay >= maxWritesUnderWay) return Infinity;
    const group = countedWith(endpoint);
    const isFull = requestsInWindow(group) >= limit;
    const oldestEnds = group.map(({ endTimes: [oldest = Infinity] }) => oldest);
    const windowEnd = isFull ? Math.min(...oldestEnds) + windowMs + 1 : 0;
    return Math.max(windowEnd, turnOf(endpoint, group), endpoint.backoffEnd);
  }

  /** The clock time of the endpoint's turn. Without turns, a burst of one endpoint would fill the common window. */
  function turnOf(endpoint: Endpoint, group: readonly Endpoint[]): number {
    if (group.length === 1) return 0;
    const lastOfGroup = Math.max(...group.map((other) => other.lastPermitAt));
    const waiting = group.filter((other) => other.isWaiting && other.backoffEnd <= clock.now());
    const ownTurn = endpoint.lastPermitAt + waiting.length * evenIntervalMs;
    return Math.max(lastOfGroup + evenIntervalMs, ownTurn);
  }

  /** The endpoints that share the endpoint's window, including itself. */
  function countedWith(endpoint: Endpoint): Endpoint[] {
    if (!pathsCountedTogether.has(endpoint.path)) return [endpoint];
    return endpoints.filter(({ path }) => path === endpoint.path);
  }

  /**
   * The number of requests that count now. A sent request counts until a minute after its end, since the service counts
   * it at some moment between permit and end.
   */
  function requestsInWindow(group: readonly Endpoint[]): number {
    const windowStart = clock.now() - windowMs;
    let count = 0;
    for (const { underWay, endTimes } of group) {
      while ((endTimes[0] ?? windowStart) < windowStart) endTimes.shift();
      count += underWay + endTimes.length;
    }
    return count;
  }

  function permitFor(endpoint: Endpoint): Permit {
    const { rate, pausesInARow: pausesBefore } = endpoint;
    endpoint.underWay++;
    endpoint.lastPermitAt = clock.now();
    endpoint.intervalMs = rate < 1 ? (evenIntervalMs / rate) * (0.5 + random()) : 0;
    let isUnused = true;
    const use = () => {
      if (!isUnused) return undefined;
      isUnused = false;
      return (end: RequestEnd) => endRequest(endpoint, end, pausesBefore);
    };
    return { use, release: () => use()?.({ sent: false }) };
  }

  /** `pausesBefore` is the number of pauses in a row when the request was permitted. */
  function endRequest(endpoint: Endpoint, end: RequestEnd, pausesBefore: number): void {
    const { sent, status, retryAfterMs = 0, failure } = end;
    endpoint.underWay--;
    if (sent) endpoint.endTimes.push(clock.now());
    const count = requestsInWindow(countedWith(endpoint));
    // A request alone does not explain its own 429, not even at the lowest limit.
    const isExplained = count > 1 && count >= limit * explainingPart;
    if (status === 429 && !isExplained) pathsCountedTogether.add(endpoint.path);
    if (endpoint.pausesInARow !== pausesBefore) {
      // The request began before the pause. Its 429 is of the burst that caused the pause, and its success proves nothing.
      const isLonger = clock.now() + retryAfterMs >= endpoint.pausedUntil + reportedStepMs;
      endpoint.pausedUntil = Math.max(endpoint.pausedUntil, clock.now() + retryAfterMs);
      if (isLonger && retryAfterMs > 0) reportPause(endpoint, retryAfterMs, true, failure);
    } else if (status === 429) {
      pause(endpoint, retryAfterMs, failure);
    } else if (status !== undefined) {
      endpoint.pausesInARow = 0;
      endpoint.rate = Math.min(1, endpoint.rate + rateStep / (endpoint.rate * (limit / 60)));
    }
    requestEnded.abort(notNeeded);
    requestEnded = new AbortController();
  }

  function pause(endpoint: Endpoint, retryAfterMs: number, failure?: RequestError): void {
    const { rate, pausesInARow } = endpoint;
    if (pausesInARow === 0) endpoint.rate = Math.max(rateStep, rate / 2);
    const backoffMs = firstPauseMs * 2 ** pausesInARow * (0.75 + random() / 2);
    const pauseMs = retryAfterMs || Math.min(maxPauseMs, backoffMs);
    endpoint.pausesInARow++;
    endpoint.pausedUntil = clock.now() + pauseMs;
    reportPause(endpoint, pauseMs, retryAfterMs > 0, failure);
  }

  function reportPause(
    { method, path }: Endpoint,
    inMs: number,
    isAsked: boolean,
    failure: RequestError | undefined,
  ): void {
    onPause?.({ method, path, inMs, isAsked, failure });
  }
}
