/** Tests that runners that share one token keep its rate limit (G6): a small version of docs/scaling.md. */
import { expect, test } from "@jest/globals";
import { share, type Sharing } from "./sharing";

test("runners with their share of the limit configured get no 429", async () => {
  const { refused, failed, done } = await share({
    runners: 4,
    creates: 300,
    limit: 200,
    window: "fixed",
    shareConfigured: true,
  });
  expect({ refused, failed }).toEqual({ refused: 0, failed: 0 });
  expect(done).toHaveLength(4);
  // One minute is not enough for the 75 creates of each runner.
  for (const seconds of done) expect(seconds).toBeGreaterThan(60);
});

test("ten runners and ten latecomers all end, and the same seed produces the same run", async () => {
  const runners = { runners: 10, creates: 300, latecomers: 10 };
  const sharing: Sharing = { ...runners, limit: 200, window: "sliding" };
  const outcome = await share(sharing);
  const { ideal, done, waited, refused, failed } = outcome;
  expect(failed).toBe(0);
  expect(refused).toBeGreaterThan(0);
  // Twenty limiters that know nothing of each other. With 260 to 340 creates, it was 33 to 96 s, and 8 to 83 s for latecomers.
  expect((done.at(-1) ?? Infinity) - ideal).toBeLessThan(120);
  expect(waited.at(-1)).toBeLessThan(ideal + 120);
  expect(await share(sharing)).toEqual(outcome);
});
