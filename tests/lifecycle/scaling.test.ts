/** Runners that share one token (G6), on a virtual clock: docs/scaling.md in small, to the request. */
import { expect, test } from "@jest/globals";
import { backOffs } from "../../bench/scaling/backOffs";
import { simulate } from "../../bench/scaling/simulate";

const windows = ["sliding", "fixed"] as const;

test.each(windows)(
  "one runner is never refused, and uses 950 of each minute (%s)",
  async (window) => {
    const { took, refused } = await simulate({ runners: 1, requests: 1901, window });
    expect(refused).toBe(0);
    // 950 at once, 950 a minute later, and one after two.
    expect(took).toBeGreaterThan(120);
    expect(took).toBeLessThan(122);
  },
);

test.each(windows)("runners that are told their share are never refused (%s)", async (window) => {
  const crowd = { runners: 10, requests: 200, requestsPerMinute: 100, window };
  const { refused, done, waited } = await simulate({ ...crowd, latecomers: 20 });
  expect(refused).toBe(0);
  // 95, 95 and 10.
  for (const seconds of done) expect(Math.floor(seconds)).toBe(120);
  expect(Math.max(...waited)).toBeLessThan(1);
});

test.each(windows)(
  "ten runners lose little of the limit, and each gets its part (%s)",
  async (window) => {
    const crowd = { runners: 10, requests: 500, window };
    const { took, ideal, fairness, refused } = await simulate(crowd);
    // Even distances take up to a window and a half longer than the bursts that the ideal is made of.
    expect(took - ideal).toBeLessThan(90);
    expect(fairness).toBeGreaterThan(0.6);
    expect(refused).toBeLessThan(1500);
  },
);

test.each(windows)("who comes with one request is not kept out by bursts (%s)", async (window) => {
  const crowd = { runners: 10, requests: 500, window, latecomers: 30 };
  const ours = await simulate(crowd);
  const burst = await simulate({ ...crowd, backOff: backOffs.pauseAndBurst });
  const mean = (values: number[]) => values.reduce((sum, it) => sum + it, 0) / values.length;
  expect(mean(ours.waited)).toBeLessThan(mean(burst.waited) / 2);
  expect(ours.refused).toBeLessThan(burst.refused);
});

test("the same seed gives the same run", async () => {
  const crowd = { runners: 3, requests: 500, window: "sliding", seed: 7 } as const;
  expect(await simulate(crowd)).toEqual(await simulate(crowd));
});
