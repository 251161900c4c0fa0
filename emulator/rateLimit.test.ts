/** Tests the rate limit, with both windows and both scopes. */
import { describe, expect, test } from "@jest/globals";
import { startEmulator } from "./index";
import { RateLimiter } from "./rateLimit";
import { caller } from "./testClient";
import { TestClock } from "./testClock";

function limiter(window: "sliding" | "fixed", limit = 3) {
  const clock = new TestClock();
  const rateLimiter = new RateLimiter(limit, window, clock);
  const admit = rateLimiter.admit.bind(rateLimiter);
  const counts = () => rateLimiter.use().map(({ count }) => count);
  const admitted = (count: number) =>
    Array.from({ length: count }, () => admit("GET /x", "t")).filter(Boolean).length;
  return { clock, admit, admitted, counts };
}

describe("a sliding window", () => {
  test("never admits more than the limit in 60 seconds", () => {
    const { clock, admitted } = limiter("sliding");
    clock.advance(59);
    expect(admitted(5)).toBe(3);
    clock.advance(59.9);
    expect(admitted(1)).toBe(0);
    clock.advance(0.1);
    expect(admitted(5)).toBe(3);
  });

  test("blocks for at most a minute after the clock was set back", () => {
    const { clock, admitted } = limiter("sliding");
    expect(admitted(3)).toBe(3);
    clock.advance(-3600);
    expect(admitted(1)).toBe(0);
    clock.advance(60);
    expect(admitted(1)).toBe(1);
  });

  test("admits the limit in each of many minutes", () => {
    const { clock, admitted } = limiter("sliding", 100);
    for (let minutes = 0; minutes < 20; minutes++) {
      expect(admitted(150)).toBe(100);
      clock.advance(60);
    }
  });
});

test("a fixed window starts again with each minute of the clock", () => {
  const { clock, admitted } = limiter("fixed");
  clock.advance(59);
  expect(admitted(5)).toBe(3);
  clock.advance(1);
  expect(admitted(5)).toBe(3);
});

test.each(["sliding", "fixed"] as const)(
  "a %s window shows how many requests count, and showing it counts nothing",
  (window) => {
    const { clock, admitted, counts } = limiter(window);
    expect(counts()).toEqual([]);
    admitted(2);
    expect([counts(), counts(), counts()]).toEqual([[2], [2], [2]]);
    expect(admitted(5)).toBe(1);
    expect(counts()).toEqual([3]);
    clock.advance(60);
    expect(counts()).toEqual([0]);
  },
);

test("each token has its own limit for each endpoint", () => {
  const { admit, admitted } = limiter("sliding");
  expect(admitted(4)).toBe(3);
  expect(admit("GET /x", "another")).toBe(true);
  expect(admit("POST /x", "t")).toBe(true);
});

test("GET and POST of a path share the limit when the scope is the path", async () => {
  await using together = await startEmulator({ requestsPerMinute: 2, rateScope: "path" });
  await using apart = await startEmulator({ requestsPerMinute: 2 });
  for (const [emulator, status] of [
    [together, 429],
    [apart, 202],
  ] as const) {
    const { ask, create } = caller(emulator);
    await ask("GET", "/instances");
    await ask("GET", "/instances");
    expect((await create("a")).status).toBe(status);
  }
});
