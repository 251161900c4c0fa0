/**
 * G6 and G7 in numbers: the service's documented limit, and what a listing of 100 lets anyone see of
 * hundreds of instances (docs/scaling.md, "A thousand instances without a cursor"). No real time passes.
 */
import { expect, test } from "@jest/globals";
import { isUnfinished } from "./machine";
import { reportFigures } from "../support/figures";
import { Crowd, cursor, program, type Run } from "./crowd";
import { Stack } from "./engine";

const provisioningSeconds = 5;
const unlimited = { requestsPerMinute: 1_000_000 };

function expectAllHeld(crowd: Crowd): void {
  expect([...crowd.ids].sort()).toEqual([...crowd.stack.ids].sort());
}

function expectWell({ engine, warnings }: Run): void {
  expect(engine.failed).toEqual([]);
  expect(warnings).toEqual([]);
}

test("a thousand instances take a little over a minute, and are answered soon after they are ACTIVE", async () => {
  using crowd = new Crowd({ ...cursor, provisioningSeconds });
  const run = crowd.begin(cursor);
  await crowd.over(run.engine.up(program(1000)));
  expectWell(run);
  expectAllHeld(crowd);
  expect(crowd.posts).toBe(1000);
  expect(crowd.refused).toBe(0);
  expect(crowd.seconds).toBeGreaterThan(60 + provisioningSeconds);
  expect(crowd.seconds).toBeLessThan(90);
  reportFigures("1000 instances within 1000 requests a minute, virtual clock", {
    seconds: Math.round(crowd.seconds),
    ...crowd.service.control.counts(),
    "429s": crowd.refused,
  });
});

test.each(["sliding", "fixed"] as const)(
  "more instances than a minute's limit lets through meet no 429, and are made as it allows (%s window)",
  async (rateWindow) => {
    const limit = { requestsPerMinute: 200 };
    using crowd = new Crowd({ provisioningSeconds, ...cursor, ...limit, rateWindow });
    const run = crowd.begin({ ...cursor, ...limit });
    const up = run.engine.up(program(300));
    await crowd.until(() => crowd.seconds > 20);
    // As many as the limit allows in the first minute: these are seen to be ACTIVE, within the limit that
    // GETs have, long before that of POSTs lets the rest go.
    const early = crowd.stack.resources.length;
    expect(early).toBeGreaterThanOrEqual(180);
    await crowd.over(up);

    expectWell(run);
    expect(crowd.seconds).toBeGreaterThan(60 + provisioningSeconds);
    expectAllHeld(crowd);
    expect(crowd.posts).toBe(300);
    expect(crowd.refused).toBe(0);
    reportFigures(`300 instances at 200 a minute, ${rateWindow} window, virtual clock`, {
      seconds: Math.round(crowd.seconds),
      "answered in the first 20 s": early,
      ...crowd.service.control.counts(),
      "429s": crowd.refused,
    });
  },
);

test("three processes that share a limit too low for them all end well, each instance made once", async () => {
  const low = { requestsPerMinute: 250, rateScope: "path" } as const;
  using crowd = new Crowd({ provisioningSeconds, ...cursor, ...low });
  const stacks = [1, 2, 3].map((n) => new Stack(`dev${n}`));
  const runs = stacks.map((stack) => crowd.begin(cursor, stack));

  await crowd.over(Promise.all(runs.map(({ engine }, n) => engine.up(program(100, `web-${n}`)))));

  expect(runs.flatMap(({ engine }) => engine.failed)).toEqual([]);
  expect(crowd.refused).toBeGreaterThan(0);
  expect(stacks.flatMap(({ ids }) => ids).sort()).toEqual([...crowd.ids].sort());
  expect(new Set(crowd.service.control.instances().map(({ name }) => name)).size).toBe(300);
  reportFigures("3 × 100 instances at 250 a minute, virtual clock", {
    seconds: Math.round(crowd.seconds),
    "429s": crowd.refused,
  });
});

test("300 instances: a look is three pages, a refresh of all is one look", async () => {
  using crowd = new Crowd({ ...cursor, ...unlimited, provisioningSeconds: Infinity });
  const run = crowd.begin({ ...unlimited, ...cursor });
  const up = run.engine.up(program(300));
  await crowd.until(() => crowd.made === 300);
  crowd.service.control.forgetRequests();
  const { looks } = crowd;
  await crowd.until(() => crowd.looks >= looks + 20);
  // One look may have been under way when the last instance was made.
  expect(crowd.pages.join(" ")).toMatch(/^(next ){0,2}(first next next ?)+(first)?( next)?$/);
  crowd.service.control.settle();
  await crowd.over(up);
  expectWell(run);
  expectAllHeld(crowd);

  crowd.service.control.forgetRequests();
  expectWell(await crowd.refresh({ ...unlimited, ...cursor }));
  expect(crowd.pages).toEqual(["first", "next", "next"]);
  expect(crowd.service.control.counts()["GET /v2/account"]).toBe(1);
  crowd.service.control.forgetRequests();
  // Without the cursor, one page of each status: none of the 200 that it does not show is forgotten.
  await crowd.refresh(unlimited);
  expect(crowd.pages).toEqual(["first", "PROVISIONING", "ACTIVE", "OFFLINE"]);
  expect(crowd.stack.ids).toHaveLength(300);
});

test("without a cursor, 300 are made a hundred at a time, each with the address it was seen with; one warning a run", async () => {
  using crowd = new Crowd({ ...unlimited, provisioningSeconds: 0.5 });
  const run = crowd.begin(unlimited);
  const up = run.engine.up(program(300));
  await crowd.over(up);
  expect(run.engine.failed).toEqual([]);
  expect(crowd.mostPending).toBeLessThanOrEqual(100);
  expect(run.warnings).toEqual([
    expect.stringMatching(/do not reach it: its (status|ipv4) is not known/),
  ]);
  expectAllHeld(crowd);
  expect(crowd.posts).toBe(300);
  for (const { id, outputs } of crowd.stack.resources) {
    // Never a wrong state: what it says of the address is what the service has.
    const ipv4 = crowd.service.control.instance(id)?.ipv4_public;
    expect([ipv4, undefined]).toContain(outputs["ipv4"]);
  }
  const addressed = crowd.stack.resources.filter(({ outputs }) => outputs["ipv4"] !== undefined);
  expect(addressed.length).toBeGreaterThanOrEqual(100);

  const { ids } = crowd.stack;
  crowd.service.control.forgetRequests();
  const { engine, warnings } = await crowd.refresh(unlimited);
  expect(engine.failed).toEqual([]);
  // Two listings.
  expect(crowd.pages.length).toBeLessThanOrEqual(8);
  expect(crowd.stack.ids.sort()).toEqual(ids.sort());
  expect(warnings).toEqual([expect.stringMatching(/kept as the state has it/)]);

  // While more are left than a listing shows, it can't be proven that one is gone: it stays in the
  // state, and the next run ends it.
  for (const { error } of (await crowd.destroy(unlimited)).engine.failed) {
    expect(error.message).toMatch(/it can't be proven that the instance is gone/);
  }
  expectWell(await crowd.destroy(unlimited));
  expect(crowd.ids).toEqual([]);
  expect(crowd.stack.ids).toEqual([]);
});

test("without a cursor, each is seen while it is PROVISIONING, so that its address is known", async () => {
  using crowd = new Crowd({ ...unlimited, provisioningSeconds: Infinity });
  const run = crowd.begin(unlimited);
  const up = run.engine.up(program(250));
  for (const most of [100, 200, 250]) {
    await crowd.until(() => crowd.made === most);
    // The requests of two listings: one of them was begun after the last of these POSTs.
    const { looks } = crowd;
    await crowd.until(() => crowd.looks >= looks + 8);
    expect(crowd.posts).toBe(most);
    crowd.service.control.settle();
  }
  await crowd.over(up);
  expect(run.engine.failed).toEqual([]);
  for (const { id, outputs } of crowd.stack.resources) {
    expect(outputs["ipv4"]).toBe(crowd.service.control.instance(id)?.ipv4_public);
  }
});

test("Ctrl-C while creates are held back: what was sent is kept, what was not is not made (G1)", async () => {
  using crowd = new Crowd({ ...unlimited, provisioningSeconds: Infinity });
  const { engine, statuses } = crowd.begin(unlimited);
  const up = engine.up(program(120));
  const held = () => statuses.filter((text) => text.includes("held back")).length;
  await crowd.until(() => crowd.made === 100 && held() >= 20);
  engine.cancel();
  await crowd.over(up);
  expect(engine.failed).toHaveLength(120);
  expect(engine.failed.filter(({ error }) => isUnfinished(error))).toHaveLength(100);
  expect(crowd.posts).toBe(100);
  expectAllHeld(crowd);
});
