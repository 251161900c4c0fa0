/**
 * The rate limit of the service: "1000 requests per minute, per endpoint" (section "Limits" of the service's API
 * document), here for each token. A request that gets a 429 is not counted, so a caller that keeps sending too many
 * requests still gets as many through as the limit allows. Counts are in memory, so a restart forgets them.
 */
import type { EmulatorClock } from "./clock";
import type { RateWindow } from "./options";

const minuteMs = 60_000;

/** Counts a request at this time. Returns false, and does not count it, if the request is over the limit. */
type Window = (nowMs: number) => boolean;

/** Admits at most `limit` requests in any 60 seconds. */
function slidingWindow(limit: number): Window {
  let times: number[] = [];
  /** Index of the oldest time within the window. */
  let first = 0;
  return (now) => {
    // If the clock was set back, times in the future count as now. Otherwise they would use up the limit until the
    // clock
    // has passed them.
    if ((times.at(-1) ?? now) > now) times = times.map((at) => Math.min(at, now));
    while ((times[first] ?? Infinity) <= now - minuteMs) first++;
    if (first > limit) {
      times = times.slice(first);
      first = 0;
    }
    if (times.length - first >= limit) return false;
    times.push(now);
    return true;
  };
}

/** Admits at most `limit` requests in each minute of the clock. */
function fixedWindow(limit: number): Window {
  let minute = -1;
  let count = 0;
  return (now) => {
    const current = Math.floor(now / minuteMs);
    if (current !== minute) [minute, count] = [current, 0];
    if (count >= limit) return false;
    count++;
    return true;
  };
}

/** Counts a request. Returns false if the request is over the limit and must get a 429. */
export type RateLimiter = (endpoint: string, token: string) => boolean;

/** Creates a limiter with a window for each token and endpoint. */
export function createRateLimiter(
  limit: number,
  kind: RateWindow,
  clock: EmulatorClock,
): RateLimiter {
  const windows = new Map<string, Window>();
  return (endpoint, token) => {
    const key = `${token} ${endpoint}`;
    let admit = windows.get(key);
    if (admit === undefined) {
      admit = kind === "sliding" ? slidingWindow(limit) : fixedWindow(limit);
      windows.set(key, admit);
    }
    return admit(clock.now());
  };
}
