/** The virtual clock of the tests wakes sleepers in order, keeps its two time scales apart, and advances by itself. */
import { expect, test } from "@jest/globals";
import { VirtualClock } from "./virtualClock";

test("sleeps end in the order in which they are due, even if they begin while the clock advances", async () => {
  const clock = new VirtualClock();
  const log: string[] = [];
  void (async () => {
    for (let tick = 1; tick <= 3; tick++) {
      await clock.sleep(10);
      log.push(`tick@${clock.now()}`);
    }
  })();
  void clock.sleep(15).then(() => log.push(`once@${clock.now()}`));
  void clock.sleep(26).then(() => log.push("too early"));
  await clock.advance(25);
  expect(log).toEqual(["tick@10", "once@15", "tick@20"]);
  expect(clock.now()).toBe(25);
  expect(clock.sleeping).toBe(2);
});

test("setting the wall clock does not change now()", async () => {
  const clock = new VirtualClock("2026-01-01T00:00:00Z");
  await clock.advance(1000);
  expect(clock.date().toISOString()).toBe("2026-01-01T00:00:01.000Z");
  clock.setWallClock(new Date("2020-01-01T00:00:00Z"));
  await clock.advance(1000);
  expect(clock.date().toISOString()).toBe("2020-01-01T00:00:01.000Z");
  expect(clock.now()).toBe(2000);
});

test("autoAdvance moves the clock to the end of the next sleep, but does not jump to a far deadline", async () => {
  const clock = new VirtualClock();
  const deadline = new AbortController();
  const far = clock.sleep(900_000, deadline.signal).catch(() => "never");
  using _ = clock.autoAdvance();
  await clock.sleep(5000);
  await clock.sleep(5000);
  expect(clock.now()).toBe(10_000);
  deadline.abort();
  expect(await far).toBe("never");
});
