/**
 * "Rate: 1000 requests per minute, per endpoint" ("Limits"), here for each token. A request that gets a 429 is not
 * counted, so a caller that stays at the limit gets as many requests through as the limit allows. Counts are in memory:
 * a restart forgets a minute of them at most.
 */
import type { EmulatorClock } from "./clock";
import type { RateWindow } from "./options";

const minuteMs = 60_000;

/** Counts a request at this time, unless it is one too many: then it returns false. */
type Window = (nowMs: number) => boolean;

/** Any 60 seconds have at most `limit` requests. */
function slidingWindow(limit: number): Window {
  let times: number[] = [];
  let first = 0;
  return (now) => {
    // After the clock was set back, later times count as now. Otherwise they would block for as long as the jump.
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

/** Each minute of the clock has at most `limit` requests. */
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

/** Counts a request, or returns false if the request has to be answered with 429. */
export type RateLimiter = (endpoint: string, token: string) => boolean;

/** A limiter with a window for each token and endpoint. */
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
