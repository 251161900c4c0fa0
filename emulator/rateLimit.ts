/**
 * "Limits": 1000 requests per minute, per endpoint; here for each token. A request that gets 429 is
 * not counted, so a caller that stays at the limit is let through at the limit. Kept in memory only:
 * a restart forgets at most a minute.
 */
import type { EmulatorClock } from "./clock";
import type { RateWindow } from "./options";

const minute = 60_000;

interface Window {
  admit(now: number, limit: number): boolean;
}

/** No 60 seconds anywhere have more than the limit. */
class SlidingWindow implements Window {
  private times: number[] = [];
  private first = 0;

  admit(now: number, limit: number): boolean {
    // After a jump backwards of the clock, what lies ahead of it counts as now: else it would block
    // for as long as the jump.
    if ((this.times.at(-1) ?? now) > now) this.times = this.times.map((at) => Math.min(at, now));
    while ((this.times[this.first] ?? Infinity) <= now - minute) this.first++;
    if (this.first > limit) {
      this.times = this.times.slice(this.first);
      this.first = 0;
    }
    if (this.times.length - this.first >= limit) return false;
    this.times.push(now);
    return true;
  }
}

/** No minute of the clock has more than the limit. */
class FixedWindow implements Window {
  private minute = -1;
  private count = 0;

  admit(now: number, limit: number): boolean {
    const current = Math.floor(now / minute);
    if (current !== this.minute) [this.minute, this.count] = [current, 0];
    if (this.count >= limit) return false;
    this.count++;
    return true;
  }
}

export class RateLimiter {
  private readonly windows = new Map<string, Window>();

  constructor(
    private readonly limit: number,
    private readonly kind: RateWindow,
    private readonly clock: EmulatorClock,
  ) {}

  /** False when the request has to be answered with 429. */
  admit(endpoint: string, token: string): boolean {
    const key = `${token} ${endpoint}`;
    let window = this.windows.get(key);
    if (window === undefined) {
      window = this.kind === "sliding" ? new SlidingWindow() : new FixedWindow();
      this.windows.set(key, window);
    }
    return window.admit(this.clock.now(), this.limit);
  }
}
