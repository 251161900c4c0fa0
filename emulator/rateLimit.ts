/**
 * The rate limit: "1000 requests per minute, per endpoint" (section "Limits"), here for each token. A request that gets a
 * 429 is not counted, so a caller that sends too many still has as many successes as the limit allows.
 */
import type { EmulatorClock } from "./clock";
import type { RateWindow } from "./options";

const minuteMs = 60_000;

/** The requests of one token to one endpoint. */
interface Window {
  /** Counts a request, or returns false if it is over the limit. */
  admit(nowMs: number): boolean;
  /** The number of requests that count now. */
  count(nowMs: number): number;
}

/** Admits at most `limit` requests in any 60 seconds. */
function slidingWindow(limit: number): Window {
  /** When the counted requests arrived, oldest first. */
  let times: number[] = [];
  /** Index of the oldest time within the window. */
  let first = 0;
  return {
    admit(now) {
      // If the clock was set back, times in the future count as now. Otherwise they would count until the clock reaches them.
      if ((times.at(-1) ?? now) > now) times = times.map((at) => Math.min(at, now));
      while ((times[first] ?? Infinity) <= now - minuteMs) first++;
      if (first > limit) {
        times = times.slice(first);
        first = 0;
      }
      if (times.length - first >= limit) return false;
      times.push(now);
      return true;
    },
    count: (now) => times.slice(first).filter((at) => at > now - minuteMs).length,
  };
}

/** Admits at most `limit` requests in each minute of the clock. */
function fixedWindow(limit: number): Window {
  let minute = -1;
  let count = 0;
  const minuteAt = (now: number) => Math.floor(now / minuteMs);
  return {
    admit(now) {
      if (minuteAt(now) !== minute) [minute, count] = [minuteAt(now), 0];
      if (count >= limit) return false;
      count++;
      return true;
    },
    count: (now) => (minuteAt(now) === minute ? count : 0),
  };
}

/** How much of the limit one token has used at one endpoint. */
export interface WindowUse {
  endpoint: string;
  token: string;
  /** How many requests count now. */
  count: number;
}

/** The rate limit, with a window for each token and endpoint. */
export class RateLimiter {
  readonly #newWindow: () => Window;
  readonly #clock: EmulatorClock;
  readonly #windows = new Map<string, { endpoint: string; token: string; window: Window }>();

  constructor(limit: number, kind: RateWindow, clock: EmulatorClock) {
    this.#newWindow = () => (kind === "sliding" ? slidingWindow(limit) : fixedWindow(limit));
    this.#clock = clock;
  }

  /** Counts a request, or returns false if it is over the limit and must get a 429. */
  admit(endpoint: string, token: string): boolean {
    const key = `${token} ${endpoint}`;
    let found = this.#windows.get(key);
    if (found === undefined) {
      found = { endpoint, token, window: this.#newWindow() };
      this.#windows.set(key, found);
    }
    return found.window.admit(this.#clock.now());
  }

  /** The use of all windows, in the order of their first request. */
  use(): WindowUse[] {
    const now = this.#clock.now();
    return [...this.#windows.values()].map(({ endpoint, token, window }) => ({
      endpoint,
      token,
      count: window.count(now),
    }));
  }
}
