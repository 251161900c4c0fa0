/** Tests of a POST that the rate limit delays. Its baseline is renewed (G2), and a person sees the wait. */
import { expect, test } from "@jest/globals";
import { failed, post, ready } from "../testing/fakeService";
import { createOf, errorOf, scene, type Scene } from "../testing/scene";
import { createInstance } from "../testing/calls";

const create = ({ session }: Scene, name = "web") =>
  createInstance(session, createOf({ name, resource: name }));

/** A scene in which each of the next POSTs waits for the rate limit for this many seconds. */
function delayed(...seconds: number[]): Scene {
  const world = scene();
  for (const wait of seconds) {
    world.service.permitHolds.push(() => world.clock.sleep(wait * 1000));
  }
  world.service.posts.push(ready);
  return world;
}

const statuses = ({ messages }: Scene) =>
  messages.all.filter((line) => line.startsWith("status ")).map((line) => line.slice(7));

test("the Info column says that a create waits for the rate limit, and for how long", async () => {
  const world = delayed(25, 0);
  await create(world);
  expect(statuses(world)).toEqual(["awaiting the rate limit, 1 s of 15 min"]);
  expect(world.clock.sleeping).toBe(0);
});

test("the Info column says that the service accepts a create slowly", async () => {
  const world = scene();
  world.service.posts.push(async (...args) => {
    await world.clock.sleep(5000);
    return ready(...args);
  });
  await create(world);
  expect(statuses(world)[0]).toBe("create sent, 1 s of 15 min");
});

test.each([
  ["used if it is half a minute old", 30, 1],
  ["renewed, if it is older", 31, 2],
])("a baseline is %s (G2)", async (_, wait, listings) => {
  const world = delayed(wait);
  await create(world);
  const before = world.service.calls.slice(0, world.service.calls.indexOf("create web"));
  expect(before.filter((call) => call === "list")).toHaveLength(listings);
});

test("a create keeps its permit while it renews its baseline, and sends its POST at once, however old the renewed one is", async () => {
  const world = delayed(31);
  const { clock, service } = world;
  const held: number[] = [];
  service.listFaults.push(
    () => void held.push(service.openPermits),
    async () => {
      held.push(service.openPermits);
      await clock.sleep(300_000);
    },
  );
  await create(world);
  expect(held).toEqual([0, 1]);
  const before = service.calls.slice(0, service.calls.indexOf("create web"));
  expect(before.filter((call) => call === "list")).toHaveLength(2);
  expect(service.openPermits).toBe(0);
});

test.each([
  ["is cancelled", ({ cancel }: Scene) => cancel()],
  ["fails", () => Promise.reject(failed("answered", "forbidden", "GET", 403))],
])("if the renewal of a baseline %s, its permit is given back", async (_, end) => {
  const world = delayed(31);
  world.service.listFaults.push(undefined, async () => end(world));
  await errorOf(create(world));
  expect(world.service.count("create")).toBe(0);
  expect(world.service.openPermits).toBe(0);
});

test.each([
  ["for half a minute after its end", 1, 30, 2],
  ["and no longer", 1, 31, 3],
  ["for as long as it took, if that was longer", 40, 40, 2],
  ["and no longer", 40, 41, 3],
])("creates share a renewed baseline %s", async (_, tookSeconds, wait, listings) => {
  const world = scene();
  const { clock, service } = world;
  const sleep = (seconds: number) => clock.sleep(seconds * 1000);
  // The baseline that both share is too old when the rate limit permits the first POST.
  service.listFaults.push(undefined, () => sleep(tookSeconds));
  service.permitHolds.push(() => sleep(31));
  service.permitHolds.push(() => sleep(31 + tookSeconds + wait));
  // The instance of the first POST causes no listing yet.
  service.posts.push(async (...args) => {
    await sleep(100);
    return ready(...args);
  }, ready);
  await Promise.all([create(world, "web"), create(world, "db")]);
  const before = service.calls.slice(0, service.calls.indexOf("create db"));
  expect(before.filter((call) => call === "list")).toHaveLength(listings);
});

test("the record has the date at which its POST was sent, since the settling time begins then", async () => {
  const world = delayed(1);
  world.service.posts.splice(0, 1, post(failed("unanswered"), { acts: false }));
  const before = world.clock.date().getTime();
  const failing = errorOf(create(world));
  const at = () => world.session.ledger.all()[0]?.record.at;
  while (world.service.count("create") === 0) {
    if (world.clock.now() < 1000) expect(at()).toBeUndefined();
    await new Promise(setImmediate);
  }
  expect(Date.parse(at() ?? "") - before).toBe(1000);
  await failing;
});

test("a create that ends while it waits for its permit leaves no record and no timer", async () => {
  const world = scene();
  world.service.permitHolds.push(() => {
    world.cancel();
    return new Promise(() => undefined);
  });
  await errorOf(create(world));
  expect(world.session.ledger.all()).toEqual([]);
  expect(world.clock.sleeping).toBe(0);
  expect(world.service.count("create")).toBe(0);
});
