/**
 * Tests of a POST that the rate limit delays. Its baseline is renewed ("nothing is made twice", G2), and a person sees
 * the wait.
 */
import { expect, test } from "@jest/globals";
import { failed, post, ready } from "../testing/fakeService";
import { errorOf, inputsOf, scene, urnOf, type Scene } from "../testing/scene";
import { createInstance } from "./create";

const urn = urnOf("web");

function create({ session }: Scene) {
  const inputs = inputsOf({ name: "web" });
  const request = { urn, inputs, timeoutSeconds: 0, preview: false };
  return createInstance(session, request);
}

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
  expect(statuses(world).slice(0, 4)).toEqual([
    "waiting for the rate limit, 1 s",
    "waiting for the rate limit, 11 s",
    "waiting for the rate limit, 21 s",
    "i-1 PROVISIONING",
  ]);
  expect(world.clock.sleeping).toBe(0);
});

test("the Info column says that the service accepts a create slowly, but not if it accepts quickly", async () => {
  const world = scene();
  world.service.posts.push(async (body, _signals, service) => {
    await world.clock.sleep(5000);
    const accepted = service.accept(body);
    service.set(accepted.id, { status: "ACTIVE" });
    return accepted;
  });
  await create(world);
  expect(statuses(world)[0]).toBe("waiting for the service to accept the create, 1 s");
  const quick = delayed(0);
  await create(quick);
  expect(statuses(quick)[0]).toBe("i-1 PROVISIONING");
});

test("a baseline of half a minute is used, and an older one is renewed while the permit is held", async () => {
  for (const [wait, listings] of [
    [25, 1],
    [60, 2],
  ] as const) {
    const world = delayed(wait);
    await create(world);
    const before = world.service.calls.slice(0, world.service.calls.indexOf("create web"));
    expect(before.filter((call) => call === "list")).toHaveLength(listings);
  }
});

test("an instance that others created during the wait is named as a leftover, and not adopted (G2)", async () => {
  const world = scene();
  const { service, clock } = world;
  service.posts.push(post(failed("unanswered"), { acts: false }));
  service.permitHolds.push(async () => {
    await clock.sleep(60_000);
    service.has("i-other", { name: "web" });
  });
  const error = await errorOf(create(world));
  expect(error.message).not.toContain("i-other");
  expect(world.messages.warnings).toEqual([expect.stringContaining("i-other")]);
  expect(service.count("create")).toBe(1);
});

test("the record has the date at which its POST was sent, since the settling time begins then", async () => {
  const world = delayed(1);
  world.service.posts.splice(0, 1, post(failed("unanswered"), { acts: false }));
  const before = world.clock.date().getTime();
  const failing = errorOf(create(world));
  const records = () => world.session.ledger.read();
  while (world.service.count("create") === 0) {
    if (world.clock.now() < 1000) expect(records()).toEqual([]);
    await new Promise(setImmediate);
  }
  expect(Date.parse(records()[0]?.record.at ?? "") - before).toBe(1000);
  await failing;
});

test("a create that ends while it waits for its permit leaves no record and no timer", async () => {
  const world = scene();
  world.service.permitHolds.push(() => {
    world.cancel();
    return new Promise(() => undefined);
  });
  await errorOf(create(world));
  expect(world.session.ledger.read()).toEqual([]);
  expect(world.clock.sleeping).toBe(0);
  expect(world.service.count("create")).toBe(0);
});
