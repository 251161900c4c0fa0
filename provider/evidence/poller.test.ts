/** Tests when the poller looks at listings, and how its waits end. */
import { expect, test } from "@jest/globals";
import { Canceled } from "../abort";
import { RequestError } from "../api/requestError";
import { answered, fail, failed } from "../testing/fakeService";
import type { ListItem } from "../api/contract";
import { errorOf, scene, type Scene } from "../testing/scene";
import { statusOf } from "./poller";

const never = new AbortController().signal;

/** Waits for an instance. `problems` has the problem of each look, or undefined for a look without one. */
function wait({ session }: Scene, id: string, signal = never, after = 0) {
  const problems: (string | undefined)[] = [];
  const onLook = (problem: Error | undefined) => void problems.push(problem?.message);
  const { pollIntervalMs } = session.settings;
  const question = { subject: { id }, listedBy: 0, pollIntervalMs };
  return {
    result: session.poller.wait({ question, after, signal, known, onLook, onListed }),
    problems,
  };
}

const known = () => ({});
const onListed = (item: ListItem) => (statusOf(item) === "PROVISIONING" ? "look" : "end");

/** From this clock time on, every listed instance is ACTIVE. Returns the clock times at which listings begin. */
function activeAt({ service, clock }: Scene, ms: number): number[] {
  const looks: number[] = [];
  service.page = ({ cursor, status }) => {
    if (!cursor && !status) looks.push(clock.now());
    if (clock.now() < ms) return undefined;
    for (const id of service.instances.keys()) service.set(id, { status: "ACTIVE" });
    return undefined;
  };
  return looks;
}

test("many waits cost as many listings as one wait (G7)", async () => {
  const costs = [1, 90].map(async (count) => {
    const world = scene();
    activeAt(world, 20_000);
    const waits = Array.from({ length: count }, (_, n) => {
      world.service.has(`i-${n}`, { status: "PROVISIONING" });
      return wait(world, `i-${n}`).result;
    });
    const results = await Promise.all(waits);
    expect(results.every((end) => end === "over")).toBe(true);
    return world.service.count("list");
  });
  const [one, many] = await Promise.all(costs);
  expect(many).toBe(one);
});

const pausesOf = (looks: number[]) => looks.slice(1).map((at, n) => at - (looks[n] ?? 0));

test("the pauses between looks grow from short ones up to the poll interval", async () => {
  const world = scene();
  world.service.has("i-1", { status: "PROVISIONING" });
  const looks = activeAt(world, 60_000);
  await wait(world, "i-1").result;
  const pauses = pausesOf(looks);
  expect(looks.slice(0, 4)).toEqual([100, 300, 600, 1100]);
  expect(Math.max(...pauses)).toBe(world.session.settings.pollIntervalMs);
  expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
});

test("a new wait gets its first looks early even if other waits have lasted long", async () => {
  const world = scene();
  world.service.has("i-1", { status: "PROVISIONING" });
  const looks = activeAt(world, 70_000);
  const first = wait(world, "i-1").result;
  await world.clock.sleep(60_000);
  const before = looks.length;
  world.service.has("i-2", { status: "PROVISIONING" });
  const second = wait(world, "i-2").result;
  await Promise.all([first, second]);
  expect(looks.slice(before, before + 3)).toEqual([60_100, 60_300, 60_600]);
});

/**
 * Runs creates of new instances, `parallel` at a time. Each is ready after its time in `readyMs`. Returns the clock times of
 * the looks, and by how much each answer came after the instance was ready.
 */
async function runCreates(world: Scene, parallel: number, readyMs: readonly number[]) {
  const { service, clock, session } = world;
  const readyAt = new Map<string, number>();
  const looks: number[] = [];
  service.page = () => {
    looks.push(clock.now());
    for (const [id, at] of readyAt) if (at <= clock.now()) service.set(id, { status: "ACTIVE" });
    return undefined;
  };
  const latenessMs: number[] = [];
  const left = [...readyMs];
  const worker = async () => {
    for (let ms = left.shift(); ms !== undefined; ms = left.shift()) {
      const id = `i-${service.instances.size}`;
      service.has(id, { status: "PROVISIONING" });
      const ready = clock.now() + ms;
      readyAt.set(id, ready);
      await wait(world, id, never, session.listings.markWrite()).result;
      latenessMs.push(clock.now() - ready);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return { looks, latenessMs };
}

test("20 instances of 10 s, 8 at a time: after the first 8, the waits cost less than two thirds of the listings, and no answer comes later", async () => {
  const tenSeconds = Array<number>(20).fill(10_000);
  const { looks, latenessMs } = await runCreates(scene(), 8, tenSeconds);
  const alone = await runCreates(scene(), 8, tenSeconds.slice(0, 8));
  expect(looks.length).toBeLessThan(alone.looks.length * (1 + 2 * (2 / 3)));
  expect(Math.max(...latenessMs)).toBeLessThanOrEqual(Math.max(...alone.latenessMs));
});

test("new instances that take at least half as long as the quickest one before are answered as soon as if there was none", async () => {
  /** Half a second, or a tenth of the time. A listing takes no time here. */
  const boundMs = (ms: number) => Math.max(500, ms / 10);
  for (const quickestMs of [50, 700, 3000, 10_000, 25_000]) {
    for (const times of [0.5, 0.55, 0.7, 1, 1.2]) {
      const world = scene();
      await runCreates(world, 1, [quickestMs]);
      const ms = times * quickestMs;
      const { latenessMs } = await runCreates(world, 1, [ms]);
      expect(latenessMs[0]).toBeLessThanOrEqual(boundMs(ms));
    }
  }
});

test("an instance that is ready much sooner than those before is answered within the poll interval, and the next one at once", async () => {
  const world = scene();
  const { pollIntervalMs } = world.session.settings;
  const { latenessMs } = await runCreates(world, 1, [20_000, 200, 200]);
  const [, surprising = NaN, next] = latenessMs;
  expect(surprising).toBeGreaterThan(1000);
  expect(surprising).toBeLessThanOrEqual(pollIntervalMs);
  expect(next).toBe(100);
});

test.each([
  ["an earlier run has created", ["resumed"]],
  ["was waited for before", ["accepted", "accepted"]],
])(
  "an instance that %s gets its first looks early, however long others have taken",
  async (_, waits) => {
    const world = scene();
    const { clock, service, session } = world;
    await runCreates(world, 1, [20_000]);
    await clock.sleep(1000);
    service.has("i-old", { status: "PROVISIONING" });
    let start = NaN;
    const looks = activeAt(world, Infinity);
    for (const how of waits) {
      start = clock.now();
      looks.splice(0);
      const impatient = new AbortController();
      const after = how === "accepted" ? session.listings.markWrite() : 0;
      const { result } = wait(world, "i-old", impatient.signal, after);
      await clock.sleep(1000);
      impatient.abort(new Canceled());
      await errorOf(result);
    }
    expect(looks.map((at) => at - start)).toEqual([100, 300, 600]);
  },
);

test("successive creates use at most half of the rate limit for looks, and looks go on", async () => {
  const world = scene({ cursorParameter: "after" });
  world.service.cursorParameter = "after";
  for (let n = 0; n < 900; n++) world.service.has(`other-${n}`);
  const looks = activeAt(world, 14_000);
  const { page } = world.service;
  /** At the begin of each look, how many requests the looks before it took. */
  const requestsBefore: number[] = [];
  world.service.page = (query) => {
    if (!query.cursor) requestsBefore.push(world.service.count("list") - 1);
    return page?.(query);
  };
  const waits: Promise<unknown>[] = [];
  for (let n = 0; n < 200; n++) {
    world.service.has(`i-${n}`, { status: "PROVISIONING" });
    waits.push(wait(world, `i-${n}`).result);
    await world.clock.sleep(60);
  }
  const minutes = ((looks.at(-1) ?? 0) - (looks[0] ?? 0)) / 60_000;
  const { requestsPerMinute } = world.session.settings;
  expect(requestsBefore.at(-1)).toBeLessThanOrEqual((minutes * requestsPerMinute) / 2);
  expect(Math.max(...pausesOf(looks))).toBeLessThan(1500);
  await Promise.all(waits);
});

test("90 creates that begin within two seconds cost at most 20 looks more than one create, although no rate limit is near", async () => {
  const looksOf = async (count: number) => {
    const world = scene({ requestsPerMinute: 10_000_000 });
    const looks = activeAt(world, 10_000);
    const waits: Promise<unknown>[] = [];
    for (let n = 0; n < count; n++) {
      world.service.has(`i-${n}`, { status: "PROVISIONING" });
      waits.push(wait(world, `i-${n}`).result);
      await world.clock.sleep(2000 / count);
    }
    await Promise.all(waits);
    return looks.length;
  };
  expect(await looksOf(90)).toBeLessThanOrEqual((await looksOf(1)) + 20);
});

test("a failed look is reported and repeated, also one that a bad certificate fails", async () => {
  const world = scene();
  world.service.has("i-1");
  const expired = { kind: "unreachable", cause: "expired", method: "GET", path: "/v2" } as const;
  world.service.listFaults.push(
    fail(answered(503, "GET")),
    fail(new RequestError({ ...expired, lasting: true })),
    fail(failed("unanswered", "cut", "GET")),
  );
  const { result, problems } = wait(world, "i-1");
  expect(await result).toBe("over");
  expect(problems).toEqual([
    expect.stringContaining("503"),
    expect.stringContaining("expired"),
    expect.stringContaining("cut"),
    undefined,
  ]);
});

test.each([401, 403])("a look refused with %i ends every wait with that error", async (status) => {
  const world = scene();
  const error = answered(status, "GET");
  world.service.listFaults.push(fail(error));
  const both = [wait(world, "i-1").result, wait(world, "i-2").result];
  expect(await Promise.all(both.map(errorOf))).toEqual([error, error]);
});

test("a wait that is aborted or whose callback fails ends neither the poller nor the other waits (G1)", async () => {
  const world = scene();
  for (const id of ["i-1", "i-2"]) world.service.has(id, { status: "PROVISIONING" });
  activeAt(world, 5000);
  const impatient = new AbortController();
  const aborted = wait(world, "i-1", impatient.signal).result;
  const defect = new Error("defect");
  const onLook = () => {
    throw defect;
  };
  const question = { subject: { id: "i-1" }, listedBy: 0, pollIntervalMs: 1000 };
  const broken = world.session.poller.wait({ question, signal: never, known, onLook, onListed });
  const healthy = wait(world, "i-2").result;
  impatient.abort(new Canceled());
  expect(await errorOf(aborted)).toBeInstanceOf(Canceled);
  expect(await errorOf(broken)).toBe(defect);
  expect(await healthy).toBe("over");
});

test("a listing that began before the 202 is ignored", async () => {
  const world = scene();
  world.service.has("i-1", { status: "ACTIVE" });
  const impatient = new AbortController();
  const { result, problems } = wait(world, "i-1", impatient.signal, Infinity);
  void world.clock.sleep(5000).then(() => impatient.abort(new Canceled()));
  expect(await errorOf(result)).toBeInstanceOf(Canceled);
  expect(problems).toEqual([]);
});

test("after the last wait, no timer and no request is left", async () => {
  const world = scene();
  world.service.has("i-1", { status: "PROVISIONING" });
  const impatient = new AbortController();
  const one = wait(world, "i-1", impatient.signal).result;
  impatient.abort(new Canceled());
  await errorOf(one);
  expect(world.clock.sleeping).toBe(0);
  await new Promise(setImmediate);
  expect(world.service.calls).toEqual([]);
});
