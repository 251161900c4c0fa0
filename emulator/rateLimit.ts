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
class SlidingWindow implements Window {
  readonly #limit: number;
  /** When the counted requests arrived, oldest first. */
  #times: number[] = [];
  /** Index of the oldest time within the window. */
  #first = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  admit(nowMs: number): boolean {
    // If the clock was set back, times in the future count as now. Otherwise they would count until the clock reaches them.
    if ((this.#times.at(-1) ?? nowMs) > nowMs)
      this.#times = this.#times.map((at) => Math.min(at, nowMs));
    while ((this.#times[this.#first] ?? Infinity) <= nowMs - minuteMs) this.#first++;
    if (this.#first > this.#limit) {
      this.#times = this.#times.slice(this.#first);
      this.#first = 0;
    }
    if (this.#times.length - this.#first >= this.#limit) return false;
    this.#times.push(nowMs);
    return true;
  }

  count(nowMs: number): number {
    return this.#times.slice(this.#first).filter((at) => at > nowMs - minuteMs).length;
  }
}

/** Admits at most `limit` requests in each minute of the clock. */
class FixedWindow implements Window {
  readonly #limit: number;
  #minute = -1;
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  admit(nowMs: number): boolean {
    if (minuteAt(nowMs) !== this.#minute) [this.#minute, this.#count] = [minuteAt(nowMs), 0];
    if (this.#count >= this.#limit) return false;
    this.#count++;
    return true;
  }

  count(nowMs: number): number {
    return minuteAt(nowMs) === this.#minute ? this.#count : 0;
  }
}

const minuteAt = (ms: number) => Math.floor(ms / minuteMs);

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
    const OneWindow = kind === "sliding" ? SlidingWindow : FixedWindow;
    this.#newWindow = () => new OneWindow(limit);
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
