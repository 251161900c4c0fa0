/** A POST that the rate limit holds back: its baseline stays young (G2), and a person sees why. */
import { expect, test } from "@jest/globals";
import { failed, post, ready } from "../../testing/fakeService";
import { errorOf, inputsOf, scene, urnOf, type Scene } from "../../testing/scene";
import { createInstance } from "./create";

const urn = urnOf("web");

function create({ session }: Scene) {
  const inputs = inputsOf({ name: "web" });
  const request = { urn, inputs, timeoutSeconds: 0, preview: false };
  return createInstance(session, request);
}

/** A scene whose next POSTs wait for their turn, each as many seconds. */
function held(...seconds: number[]): Scene {
  const world = scene();
  for (const wait of seconds) {
    world.service.turns.push(() => world.clock.sleep(wait * 1000));
  }
  world.service.posts.push(ready);
  return world;
}

const statuses = ({ messages }: Scene) =>
  messages.all.filter((line) => line.startsWith("status ")).map((line) => line.slice(7));

test("the Info column says that it waits for the rate limit, and for how long", async () => {
  const world = held(25, 0);
  await create(world);
  expect(statuses(world).slice(0, 4)).toEqual([
    "waiting for the rate limit, 1 s",
    "waiting for the rate limit, 11 s",
    "waiting for the rate limit, 21 s",
    "i-1 PROVISIONING",
  ]);
  expect(world.clock.sleeping).toBe(0);
});

test("a create that the service takes long to accept says so; a quick one says nothing of it", async () => {
  const world = scene();
  world.service.posts.push(async (body, _signals, service) => {
    await world.clock.sleep(5000);
    const accepted = service.accept(body);
    service.set(accepted.id, { status: "ACTIVE" });
    return accepted;
  });
  await create(world);
  expect(statuses(world)[0]).toBe("waiting for the service to accept the create, 1 s");
  const quick = held(0);
  await create(quick);
  expect(statuses(quick)[0]).toBe("i-1 PROVISIONING");
});

test("after two seconds of waiting the baseline is taken again before the POST", async () => {
  const world = held(3, 2);
  await create(world);
  expect(world.service.calls.slice(0, 4)).toEqual(["account", "list", "list", "create web"]);
});

test("what others made while it waited is not taken for its instance (G2)", async () => {
  const world = held(60, 0);
  const { service, clock } = world;
  service.posts.splice(0, 1, post(failed("unanswered"), { acts: false }));
  service.turns.unshift(async () => {
    await clock.sleep(30_000);
    service.has("i-other", { name: "web" });
  });
  const error = await errorOf(create(world));
  expect(error.message).not.toContain("i-other");
  expect(world.session.creates.has("i-other")).toBe(false);
  expect(service.count("create")).toBe(1);
});

test("a limit that makes every baseline old lets the POST go all the same", async () => {
  const world = held(60, 60, 60, 60);
  await create(world);
  expect(world.service.count("create")).toBe(1);
  expect(world.service.calls.slice(0, 6)).toEqual([
    "account",
    ...Array.from({ length: 4 }, () => "list"),
    "create web",
  ]);
});

test("the note of an open create bears the date of the sending, from which the settling time counts", async () => {
  const world = held(1);
  world.service.posts.splice(0, 1, () => {
    throw failed("unanswered");
  });
  const before = world.clock.date().getTime();
  const failing = errorOf(create(world));
  const note = () => world.session.journal.find(world.session.settings, urn);
  while (world.service.count("create") === 0) {
    expect(note()).toBeUndefined();
    await new Promise(setImmediate);
  }
  expect(Date.parse(note()?.at ?? "") - before).toBe(1000);
  await failing;
});

test("one that ends while it waits, or after its turn was given back, leaves no note and no timer", async () => {
  const world = scene();
  world.service.turns.push(async (turn) => {
    // Sent once, and answered with a 429 that makes it wait.
    turn?.come();
    expect(world.session.journal.entries()).toHaveLength(1);
    turn?.awaited();
    await world.clock.sleep(3000);
  });
  // The second baseline never comes.
  world.service.listFaults.push(undefined, async () => {
    world.cancel();
    await new Promise(() => undefined);
  });
  await errorOf(create(world));
  expect(world.session.journal.entries()).toEqual([]);
  expect(world.clock.sleeping).toBe(0);
  expect(world.service.count("create")).toBe(0);
});
