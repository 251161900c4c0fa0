/** Tests when the poller looks at listings, and how its waits end. */
import { expect, test } from "@jest/globals";
import { Canceled } from "../abort";
import { answered, fail, failed } from "../testing/fakeService";
import { errorOf, scene, type Scene } from "../testing/scene";

const never = new AbortController().signal;

/** Waits for an instance. `problems` has the problem of each look, or undefined for a look without one. */
function wait({ session }: Scene, id: string, signal = never, after = 0) {
  const problems: (string | undefined)[] = [];
  const onListing = (_: unknown, problem: string | undefined) => void problems.push(problem);
  return {
    verdict: session.poller.waitWhileProvisioning(id, { after, settledAt: 0, signal, onListing }),
    problems,
  };
}

/** From this clock time on, every listed instance is ACTIVE. */
function activeAt({ service, clock }: Scene, ms: number): void {
  service.page = () => {
    if (clock.now() < ms) return undefined;
    for (const id of service.instances.keys()) service.set(id, { status: "ACTIVE" });
    return undefined;
  };
}

test("many waits cost as many listings as one wait (G7)", async () => {
  const costs: number[] = [];
  for (const count of [1, 90]) {
    const world = scene();
    for (let n = 0; n < count; n++) world.service.has(`i-${n}`, { status: "PROVISIONING" });
    activeAt(world, 20_000);
    const waits = Array.from({ length: count }, (_, n) => wait(world, `i-${n}`).verdict);
    const verdicts = await Promise.all(waits);
    expect(verdicts.every(({ kind }) => kind === "provisioned")).toBe(true);
    costs.push(world.service.count("list"));
  }
  expect(costs[1]).toBe(costs[0]);
});

/**
 * Returns an array that collects the clock times at which listings begin. After `until`, every listed instance is
 * ACTIVE.
 */
function lookTimes({ service, clock }: Scene, until: number): number[] {
  const looks: number[] = [];
  service.page = ({ cursor, status }) => {
    if (!cursor && !status) looks.push(clock.now());
    if (clock.now() > until) {
      for (const id of service.instances.keys()) service.set(id, { status: "ACTIVE" });
    }
    return undefined;
  };
  return looks;
}

test("the pauses between looks grow from short ones up to the poll interval", async () => {
  const world = scene();
  world.service.has("i-1", { status: "PROVISIONING" });
  const looks = lookTimes(world, 60_000);
  await wait(world, "i-1").verdict;
  const pauses = looks.slice(1).map((at, n) => at - (looks[n] ?? 0));
  expect(looks.slice(0, 4)).toEqual([100, 300, 600, 1100]);
  expect(Math.max(...pauses)).toBe(world.session.settings.pollIntervalMs);
  expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
});

test("a new wait gets its first looks early even if other waits have lasted long", async () => {
  const world = scene();
  world.service.has("i-1", { status: "PROVISIONING" });
  const looks = lookTimes(world, 70_000);
  const first = wait(world, "i-1").verdict;
  await world.clock.sleep(60_000);
  const before = looks.length;
  world.service.has("i-2", { status: "PROVISIONING" });
  const second = wait(world, "i-2").verdict;
  await Promise.all([first, second]);
  expect(looks.slice(before, before + 3)).toEqual([60_100, 60_300, 60_600]);
});

test("successive creates use at most half of the rate limit for looks, and looks go on", async () => {
  const world = scene({ cursorParameter: "after" });
  world.service.cursorParameter = "after";
  for (let n = 0; n < 900; n++) world.service.has(`other-${n}`);
  const looks = lookTimes(world, 14_000);
  const waits: Promise<unknown>[] = [];
  for (let n = 0; n < 200; n++) {
    world.service.has(`i-${n}`, { status: "PROVISIONING" });
    waits.push(wait(world, `i-${n}`).verdict);
    await world.clock.sleep(60);
  }
  // The looks of 12 s, with ten pages each.
  expect(world.service.count("list")).toBeLessThan(120);
  const pauses = looks.slice(1).map((at, n) => at - (looks[n] ?? 0));
  expect(Math.max(...pauses)).toBeLessThan(1500);
  await Promise.all(waits);
});

test("a failed look is reported and repeated", async () => {
  const world = scene();
  world.service.has("i-1");
  world.service.listFaults.push(
    fail(answered(503, "GET")),
    fail(failed("unanswered", "cut", "GET")),
  );
  const { verdict, problems } = wait(world, "i-1");
  expect(await verdict).toMatchObject({ kind: "provisioned" });
  expect(problems).toEqual([
    expect.stringContaining("503"),
    expect.stringContaining("cut"),
    undefined,
  ]);
});

test.each([401, 403])("a look refused with %i ends every wait with that error", async (status) => {
  const world = scene();
  const error = answered(status, "GET");
  world.service.listFaults.push(fail(error));
  const both = [wait(world, "i-1").verdict, wait(world, "i-2").verdict];
  expect(await Promise.all(both.map(errorOf))).toEqual([error, error]);
});

test("a wait that is aborted does not end the other waits", async () => {
  const world = scene();
  world.service.has("i-1", { status: "PROVISIONING" });
  world.service.has("i-2", { status: "PROVISIONING" });
  activeAt(world, 5000);
  const impatient = new AbortController();
  const one = wait(world, "i-1", impatient.signal).verdict;
  const other = wait(world, "i-2").verdict;
  impatient.abort(new Canceled());
  expect(await errorOf(one)).toBeInstanceOf(Canceled);
  expect(await other).toMatchObject({ kind: "provisioned" });
});

test("an error in one wait's callback ends neither the poller nor the other waits (G1)", async () => {
  const world = scene();
  world.service.has("i-1", { status: "PROVISIONING" });
  world.service.has("i-2", { status: "PROVISIONING" });
  activeAt(world, 5000);
  const defect = new Error("defect");
  const broken = world.session.poller.waitWhileProvisioning("i-1", {
    after: 0,
    settledAt: 0,
    signal: never,
    onListing: () => {
      throw defect;
    },
  });
  const healthy = wait(world, "i-2").verdict;
  expect(await errorOf(broken)).toBe(defect);
  expect(await healthy).toMatchObject({ kind: "provisioned" });
});

test("a listing that began before the 202 is ignored", async () => {
  const world = scene();
  world.service.has("i-1", { status: "ACTIVE" });
  const { verdict, problems } = wait(world, "i-1", never, Infinity);
  const ended = errorOf(
    Promise.race([
      verdict,
      world.clock.sleep(5000).then(() => Promise.reject(new Error("still waiting"))),
    ]),
  );
  expect((await ended).message).toBe("still waiting");
  expect(problems).toEqual([]);
});

test("after the last wait, no timer and no request is left", async () => {
  const world = scene();
  world.service.has("i-1", { status: "PROVISIONING" });
  const impatient = new AbortController();
  const one = wait(world, "i-1", impatient.signal).verdict;
  impatient.abort(new Canceled());
  await errorOf(one);
  expect(world.clock.sleeping).toBe(0);
  await new Promise(setImmediate);
  expect(world.service.calls).toEqual([]);
});
