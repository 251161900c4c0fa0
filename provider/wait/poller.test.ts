import { expect, test } from "@jest/globals";
import { Canceled } from "../abort";
import { answered, fail, failed } from "../testing/fakeService";
import { errorOf, scene, type Scene } from "../testing/scene";

const never = new AbortController().signal;

function wait({ session }: Scene, id: string, signal = never, after = 0) {
  const problems: (string | undefined)[] = [];
  const onLook = (_: unknown, problem: string | undefined) => void problems.push(problem);
  return { verdict: session.poller.leaveProvisioning(id, { after, signal, onLook }), problems };
}

/** Whoever is listed is ACTIVE from that moment on. */
function activeAt({ service, clock }: Scene, ms: number): void {
  service.page = () => {
    if (clock.now() < ms) return undefined;
    for (const id of service.instances.keys()) service.set(id, { status: "ACTIVE" });
    return undefined;
  };
}

test("hundreds of waits cost the listings of one (G7)", async () => {
  const costs: number[] = [];
  for (const count of [1, 90]) {
    const world = scene();
    for (let n = 0; n < count; n++) world.service.has(`i-${n}`, { status: "PROVISIONING" });
    activeAt(world, 20_000);
    const waits = Array.from({ length: count }, (_, n) => wait(world, `i-${n}`).verdict);
    const verdicts = await Promise.all(waits);
    expect(verdicts.every(({ kind }) => kind === "settled")).toBe(true);
    costs.push(world.service.count("list"));
  }
  expect(costs[1]).toBe(costs[0]);
});

/** When the service was asked for the first page of a listing. */
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

test("it looks soon at first, then ever less often, up to the poll interval", async () => {
  const world = scene();
  world.service.has("i-1", { status: "PROVISIONING" });
  const looks = lookTimes(world, 60_000);
  await wait(world, "i-1").verdict;
  const pauses = looks.slice(1).map((at, n) => at - (looks[n] ?? 0));
  expect(looks.slice(0, 4)).toEqual([100, 300, 600, 1100]);
  expect(Math.max(...pauses)).toBe(world.session.settings.pollIntervalMs);
  expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
});

test("a wait that begins while others last long is looked at as soon", async () => {
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

test("creates that follow each other take half of the rate limit at most, and looks go on", async () => {
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
  // Of 12 s, with ten pages a look.
  expect(world.service.count("list")).toBeLessThan(120);
  const pauses = looks.slice(1).map((at, n) => at - (looks[n] ?? 0));
  expect(Math.max(...pauses)).toBeLessThan(1500);
  await Promise.all(waits);
});

test("a look that fails is told and tried again", async () => {
  const world = scene();
  world.service.has("i-1");
  world.service.listFaults.push(
    fail(answered(503, "GET")),
    fail(failed("unanswered", "cut", "GET")),
  );
  const { verdict, problems } = wait(world, "i-1");
  expect(await verdict).toMatchObject({ kind: "settled" });
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

test("one wait that ends early leaves the others", async () => {
  const world = scene();
  world.service.has("i-1", { status: "PROVISIONING" });
  world.service.has("i-2", { status: "PROVISIONING" });
  activeAt(world, 5000);
  const impatient = new AbortController();
  const one = wait(world, "i-1", impatient.signal).verdict;
  const other = wait(world, "i-2").verdict;
  impatient.abort(new Canceled());
  expect(await errorOf(one)).toBeInstanceOf(Canceled);
  expect(await other).toMatchObject({ kind: "settled" });
});

test("a defect met at one wait ends that one, and neither the poller nor the others (G1)", async () => {
  const world = scene();
  world.service.has("i-1", { status: "PROVISIONING" });
  world.service.has("i-2", { status: "PROVISIONING" });
  activeAt(world, 5000);
  const defect = new Error("defect");
  const broken = world.session.poller.leaveProvisioning("i-1", {
    after: 0,
    signal: never,
    onLook: () => {
      throw defect;
    },
  });
  const sound = wait(world, "i-2").verdict;
  expect(await errorOf(broken)).toBe(defect);
  expect(await sound).toMatchObject({ kind: "settled" });
});

test("a listing begun before the 202 is not looked at", async () => {
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

test("when nobody waits any more, no timer and no request is left", async () => {
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
