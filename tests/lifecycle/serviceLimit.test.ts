/** G6 in numbers: the service's documented limit, to the request, on a clock that flies. */
import { expect, test } from "@jest/globals";
import { reportFigures } from "../support/figures";
import { VirtualWorld } from "./support/virtual";

const cursor = { cursorParameter: "starting_after" };
const provisioningSeconds = 5;

test.each(["sliding", "fixed"] as const)(
  "1,500 instances of one process meet no 429, and take hardly longer than the limit makes them (%s window)",
  async (rateWindow) => {
    await using world = await VirtualWorld.create({ provisioningSeconds, ...cursor, rateWindow });
    const runner = await world.runner(cursor);

    await runner.up("web", 1500);
    const upSeconds = world.seconds;

    // As many as the limit allows in the first minute: these are seen to be ACTIVE, within the limit that
    // GETs have, long before that of POSTs lets the rest go.
    const early = runner.made.filter(({ at }) => at < 20).length;
    expect(early).toBeGreaterThanOrEqual(950);
    expect(upSeconds).toBeGreaterThan(60 + provisioningSeconds);
    expect(upSeconds).toBeLessThan(60 + provisioningSeconds + 2);
    expect(new Set(runner.made.map(({ id }) => id)).size).toBe(1500);
    expect(await runner.refresh()).toHaveLength(1500);
    expect(world.acted()).toBe(1500);
    expect(world.service.counts()["POST /v2/instances"]).toBe(1500);
    expect(world.refused()).toBe(0);
    expect(runner.warnings).toEqual([]);
    reportFigures(`1,500 instances, ${rateWindow} window, virtual clock`, {
      seconds: Math.round(upSeconds),
      "answered in the first 20 s": early,
      ...world.service.counts(),
      "429s": world.refused(),
    });
  },
);

test("three processes that share a limit too low for them all end well, each instance made once", async () => {
  await using world = await VirtualWorld.create({
    ...{ provisioningSeconds, ...cursor },
    ...{ requestsPerMinute: 250, rateScope: "path" },
  });
  const runners = await Promise.all([1, 2, 3].map(() => world.runner(cursor)));

  await Promise.all(runners.map((runner, n) => runner.up(`web-${n}`, 100)));

  expect(world.refused()).toBeGreaterThan(0);
  expect(world.acted()).toBe(300);
  const ids = runners.flatMap(({ made }) => made.map(({ id }) => id));
  expect(new Set(ids).size).toBe(300);
  const instances = world.service.control.instances();
  expect(instances.map(({ id }) => id).sort()).toEqual(ids.sort());
  expect(new Set(instances.map(({ name }) => name)).size).toBe(300);
  reportFigures("3 × 100 instances at 250 a minute, virtual clock", {
    seconds: Math.round(world.seconds),
    "429s": world.refused(),
  });
});
