/**
 * Tests hundreds of instances: the documented rate limit is kept (G6), and the state is right (G7) although a listing
 * without a cursor shows only 100 instances.
 */
import { expect, test } from "@jest/globals";
import { Simulation, cursor, program, type Run } from "./simulation";
import { Stack } from "./engine";

const provisioningSeconds = 5;
const unlimited = { requestsPerMinute: 1_000_000 };

/** The state has exactly the instances of the service. */
function expectAllHeld(simulation: Simulation): void {
  expect([...simulation.ids].sort()).toEqual([...simulation.stack.ids].sort());
}

function expectNoProblem({ engine, warnings }: Run): void {
  expect(engine.failed).toEqual([]);
  expect(warnings).toEqual([]);
}

test.each(["sliding", "fixed"] as const)(
  "more creates than the limit of a minute get no 429 (%s window)",
  async (rateWindow) => {
    const limit = { requestsPerMinute: 200 };
    using simulation = new Simulation({ provisioningSeconds, ...cursor, ...limit, rateWindow });
    const run = simulation.begin({ ...cursor, ...limit });
    const up = run.engine.up(program(300));
    await simulation.until(() => simulation.seconds > 20);
    // The creates of the first burst end while the others wait: GETs have a limit of their own.
    const early = simulation.stack.resources.length;
    expect(early).toBeGreaterThanOrEqual(60);
    await simulation.timeline.untilEnd(up);

    expectNoProblem(run);
    expect(simulation.seconds).toBeGreaterThan(60 + provisioningSeconds);
    expectAllHeld(simulation);
    expect(simulation.posts).toBe(300);
    expect(simulation.refused).toBe(0);
  },
);

test("three processes that share a low limit all succeed, and create each instance once", async () => {
  const low = { requestsPerMinute: 250, rateScope: "path" } as const;
  using simulation = new Simulation({ provisioningSeconds, ...cursor, ...low });
  const stacks = [1, 2, 3].map((n) => new Stack(`dev${n}`));
  const runs = stacks.map((stack) => simulation.begin(cursor, stack));

  await simulation.timeline.untilEnd(
    Promise.all(runs.map(({ engine }, n) => engine.up(program(100, `web-${n}`)))),
  );

  expect(runs.flatMap(({ engine }) => engine.failed)).toEqual([]);
  expect(simulation.refused).toBeGreaterThan(0);
  expect(stacks.flatMap(({ ids }) => ids).sort()).toEqual([...simulation.ids].sort());
  expect(new Set(simulation.service.control.instances().map(({ name }) => name)).size).toBe(300);
});

test("300 creates send one account request and one listing before their POSTs, a listing of them is three pages, and a refresh of all of them is one listing", async () => {
  using simulation = new Simulation({ ...cursor, ...unlimited, provisioningSeconds: Infinity });
  const run = simulation.begin({ ...unlimited, ...cursor });
  const up = run.engine.up(program(300));
  await simulation.until(() => simulation.servedPosts === 300);
  // All creates share what they need before their POSTs.
  const requests = simulation.service.control.requests();
  const firstPost = requests.findIndex(({ method }) => method === "POST");
  expect(requests.slice(0, firstPost).map(({ path }) => path)).toEqual([
    "/v2/account",
    "/v2/instances",
  ]);
  simulation.service.control.forgetRequests();
  const before = simulation.servedListRequests;
  await simulation.until(() => simulation.servedListRequests >= before + 20);
  // A listing may have been under way when the last instance was created.
  expect(simulation.pages.join(" ")).toMatch(/^(next ){0,2}(first next next ?)+(first)?( next)?$/);
  simulation.service.control.finishProvisioning();
  await simulation.timeline.untilEnd(up);
  expectNoProblem(run);
  expectAllHeld(simulation);

  simulation.service.control.forgetRequests();
  expectNoProblem(await simulation.run((engine) => engine.refresh(), { ...unlimited, ...cursor }));
  expect(simulation.pages).toEqual(["first", "next", "next"]);
  expect(simulation.service.control.counts()["GET /v2/account"]).toBe(1);
  simulation.service.control.forgetRequests();
  // The usual cursor needs no setting, and one page more that proves it.
  expectNoProblem(await simulation.run((engine) => engine.refresh(), unlimited));
  expect(simulation.pages).toEqual(["first", "next", "next", "next"]);
  simulation.service.control.forgetRequests();
  // Without a cursor: one page of each status. The 200 instances that no page shows stay in the state.
  await simulation.run((engine) => engine.refresh(), {
    ...unlimited,
    cursorParameter: "none",
  });
  expect(simulation.pages).toEqual(["first", "PROVISIONING", "ACTIVE", "OFFLINE"]);
  expect(simulation.stack.ids).toHaveLength(300);
});

test("with refreshBeforeUpdate, an up of 300 instances costs the pages of one refresh, creates what was removed, and sees a rename and OFFLINE", async () => {
  const settings = { ...unlimited, ...cursor, refreshBeforeUpdate: true };
  using simulation = new Simulation({ ...cursor, ...unlimited, provisioningSeconds: 1 });
  const { control } = simulation.service;
  const up = () => simulation.run((engine) => engine.up(program(300)), settings);
  expectNoProblem(await up());
  // The settling time of the creates is over.
  await simulation.timeline.pass(60_000);

  control.forgetRequests();
  expectNoProblem(await up());
  expect(control.counts()).toEqual({ "GET /v2/account": 1, "GET /v2/instances": 3 });

  const [removed = "", renamed = "", stopped = ""] = simulation.stack.ids;
  control.remove(removed);
  control.rename(renamed, "by-hand");
  control.setStatus(stopped, "OFFLINE");
  control.forgetRequests();
  const { engine, warnings } = await up();
  expect(engine.failed).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining(`instance ${stopped} is OFFLINE`)]);
  expect(control.counts()).toMatchObject({ "POST /v2/instances": 1 });
  expect(simulation.stack.ids).not.toContain(removed);
  expectAllHeld(simulation);
  const outputsOf = (id: string) =>
    simulation.stack.resources.find((resource) => resource.id === id)?.outputs;
  expect(outputsOf(renamed)).toMatchObject({ name: "by-hand" });
  expect(outputsOf(stopped)).toMatchObject({ status: "OFFLINE" });
});

test("without refreshBeforeUpdate, an up without changes sends no request", async () => {
  using simulation = new Simulation({ ...cursor, provisioningSeconds: 1 });
  const up = () => simulation.run((engine) => engine.up(program(3)), cursor);
  expectNoProblem(await up());
  simulation.service.control.forgetRequests();
  expectNoProblem(await up());
  expect(simulation.service.control.counts()).toEqual({});
});

test("without a cursor, and if the settings say so, 300 instances are created with a right address or none, and one warning that a second one counts", async () => {
  using simulation = new Simulation({ ...unlimited, provisioningSeconds: 0.5 });
  const noCursor = { ...unlimited, cursorParameter: "none" };
  const run = simulation.begin(noCursor);
  const up = run.engine.up(program(300));
  await simulation.timeline.untilEnd(up);
  expect(run.engine.failed).toEqual([]);
  expect(run.warnings).toEqual([
    expect.stringMatching(
      /are cut off before they show it, so its status and its address are not known/,
    ),
    expect.stringMatching(
      /^199 more instances, as for web-\d+: the instance has left PROVISIONING/,
    ),
  ]);
  expectAllHeld(simulation);
  expect(simulation.posts).toBe(300);
  for (const { id, outputs } of simulation.stack.resources) {
    const ipv4 = simulation.service.control.instance(id)?.ipv4_public;
    expect([ipv4, ""]).toContain(outputs["ipv4"]);
  }
  const addressed = simulation.stack.resources.filter(({ outputs }) => outputs["ipv4"] !== "");
  expect(addressed.length).toBeGreaterThanOrEqual(100);

  const { ids } = simulation.stack;
  simulation.service.control.forgetRequests();
  const { engine, warnings } = await simulation.run((engine) => engine.refresh(), noCursor);
  expect(engine.failed).toEqual([]);
  // At most two listings, each of one request without a status and one for each of three.
  expect(simulation.pages.length).toBeLessThanOrEqual(8);
  expect(simulation.stack.ids.sort()).toEqual(ids.sort());
  expect(warnings).toEqual([
    expect.stringMatching(/the state keeps it unchanged/),
    expect.stringMatching(
      /^199 more instances, as for web-\d+: the instance is not in the listing/,
    ),
  ]);

  // While there are more instances than a listing shows, nothing proves that a deleted one is gone. The next run
  // deletes it.
  for (const { error } of (await simulation.run((engine) => engine.destroy(), noCursor)).engine
    .failed) {
    expect(error.message).toMatch(/is not proven gone after its DELETE/);
  }
  expectNoProblem(await simulation.run((engine) => engine.destroy(), noCursor));
  expect(simulation.ids).toEqual([]);
  expect(simulation.stack.ids).toEqual([]);
});
