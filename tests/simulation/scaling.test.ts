/** Runners that share one token (G6), on a virtual clock: docs/scaling.md in small, to the request. */
import { expect, test } from "@jest/globals";
import { backOffs } from "../../bench/scaling/backOffs";
import { simulate } from "../../bench/scaling/simulate";

test("runners that are told their share are never refused", async () => {
  const crowd = { runners: 4, requests: 80, requestsPerMinute: 50, window: "fixed" } as const;
  const { refused, done } = await simulate(crowd);
  expect(refused).toBe(0);
  // 47 and 33.
  for (const seconds of done) expect(Math.floor(seconds)).toBe(60);
});

test("ten runners each get their part, and bursts keep nobody out; the same seed gives the same run", async () => {
  const crowd = { runners: 10, requests: 150, window: "sliding", latecomers: 10 } as const;
  const ours = await simulate(crowd);
  const burst = await simulate({ ...crowd, backOff: backOffs.pauseAndBurst });
  expect(ours.fairness).toBeGreaterThan(0.6);
  expect(ours.took - ours.ideal).toBeLessThan(90);
  expect(ours.refused).toBeLessThan(burst.refused);
  expect(await simulate(crowd)).toEqual(ours);
});
