/** Tests the wait for the public address of an instance that is listed as ACTIVE: how long it lasts, and what ends it. */
import { expect, test } from "@jest/globals";
import type { ListItem } from "../api/contract";
import { InstanceUnfinished } from "../errors";
import { answered, fail, type Post } from "../testing/fakeService";
import { type Scene, createOf, errorOf, inputsOf, scene, urnOf } from "../testing/scene";
import { Instance } from "./instance";
import { readInstance } from "./read";
import { createInstance, updateInstance } from "../testing/calls";

const address = "203.0.113.9";
const bare = { status: "ACTIVE", ipv4_public: undefined };

/** A POST whose instance is listed so from the first listing on. */
const listedAs =
  (change: Partial<ListItem>): Post =>
  (body, _signals, service) => {
    const accepted = service.accept(body);
    service.set(accepted.id, change);
    return accepted;
  };

/** A scene whose creates make instances that are ACTIVE at once, and without an address. */
function bareScene(count = 1, change: Partial<ListItem> = bare): Scene {
  const world = scene();
  world.service.posts.push(...Array.from({ length: count }, () => listedAs(change)));
  return world;
}

const create = ({ session }: Scene, asked: Parameters<typeof createOf>[0] = {}) =>
  createInstance(session, createOf(asked));

/** Creates as many instances at once, and returns their outputs. */
const createMany = async (world: Scene, count: number) =>
  Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const { outputs } = await create(world, { resource: `web-${n}`, name: `web-${n}` });
      return outputs;
    }),
  );

async function unfinishedOf(waiting: Promise<unknown>): Promise<InstanceUnfinished> {
  const error = await errorOf(waiting);
  if (!(error instanceof InstanceUnfinished)) throw error;
  expect(error.state.outputs).toMatchObject({ __unfinished: true });
  return error;
}

type State = Pick<InstanceUnfinished["state"], "inputs" | "outputs">;

/** Shows the session the instances that the state holds, as the engine's calls do. */
function show({ session }: Scene, ids: string[], { inputs, outputs }: State): void {
  for (const id of ids) session.noteShown(new Instance({ urn: urnOf(id), id, inputs, outputs }));
}

const refresh = ({ session }: Scene, { inputs, outputs }: State) =>
  readInstance(
    session,
    { urn: urnOf("web"), id: "i-1", inputs, outputs, timeoutSeconds: 0 },
    "refresh",
  );

function update({ session }: Scene, { inputs, outputs }: State) {
  const request = { urn: urnOf("web"), id: "i-1", oldInputs: inputs, oldOutputs: outputs };
  return updateInstance(session, { ...request, news: inputs, timeoutSeconds: 0, preview: false });
}

const noAddress = expect.stringContaining("the service lists no public address");

test("a create ends once a listing has the address, without a warning", async () => {
  const world = bareScene();
  const ended = create(world);
  await world.clock.sleep(10_000);
  world.service.set("i-1", { ipv4_public: address });
  const { outputs } = await ended;
  expect(outputs).toMatchObject({ status: "ACTIVE", ipv4: address });
  expect("__unfinished" in outputs).toBe(false);
  expect(world.clock.now()).toBeLessThan(15_000);
  expect(world.messages.warnings).toEqual([]);
});

test("an address that the first listing shows costs no further listing", async () => {
  const world = bareScene(1, { status: "ACTIVE", ipv4_public: address });
  await create(world);
  // One before the POST, and one after it.
  expect(world.service.count("list")).toBe(2);
});

test("an address that does not come is awaited for the settling time, in a first private deployment once, and then named in one warning", async () => {
  const world = bareScene(3);
  const [first, second] = await createMany(world, 2);
  for (const outputs of [first, second]) {
    expect(outputs).toMatchObject({ status: "ACTIVE", ipv4: "", privateIpv4: "10.0.0.5" });
    expect("__unfinished" in (outputs ?? {})).toBe(false);
  }
  const { clock, messages, session, service } = world;
  expect(clock.now()).toBeGreaterThan(60_000);
  expect(clock.now()).toBeLessThan(70_000);
  expect(messages.warnings).toEqual([noAddress]);

  const before = { now: clock.now(), lists: service.count("list") };
  await create(world, { resource: "late", name: "late" });
  expect(clock.now() - before.now).toBeGreaterThan(15_000);
  expect(clock.now() - before.now).toBeLessThan(20_000);
  session.notices.reportFindings();
  expect(messages.warnings).toEqual([
    noAddress,
    expect.stringContaining("2 more instances, as for"),
  ]);
});

test("where finished instances are listed without an address, one is awaited for five poll intervals", async () => {
  for (const comes of [true, false]) {
    const world = bareScene();
    world.service.has("i-other", bare);
    const ended = create(world);
    await world.clock.sleep(12_000);
    if (comes) world.service.set("i-1", { ipv4_public: address });
    const { outputs } = await ended;
    expect(outputs).toMatchObject({ status: "ACTIVE", ipv4: comes ? address : "" });
    expect(world.clock.now()).toBeLessThan(20_000);
    expect(world.messages.warnings).toEqual(comes ? [] : [noAddress]);
  }
});

test.each<[string, (world: Scene) => void]>([
  ["one of the others has an address", ({ service }) => service.has("i-public")],
  [
    "the replaced instance has an address",
    ({ session: { engine } }) => {
      const urn = urnOf("web");
      engine.check({ urn, olds: inputsOf() });
      engine.diff({ urn, news: inputsOf() }, { id: "i-old", isUnfinished: false, ipv4: address });
      // The Create has begun.
      engine.hold(urn, { id: "", isUnfinished: true });
    },
  ],
])("where %s, one is awaited for the settling time", async (_, make) => {
  const world = bareScene();
  world.service.has("i-private", bare);
  make(world);
  const ended = create(world);
  await world.clock.sleep(40_000);
  world.service.set("i-1", { ipv4_public: address });
  expect((await ended).outputs).toMatchObject({ ipv4: address });
});

test.each([
  ["PROVISIONING", { status: "PROVISIONING", ipv4_public: undefined }],
  ["OFFLINE", { status: "OFFLINE", ipv4_public: undefined }],
  ["listed with an address", {}],
])("another instance that is %s says nothing about the address", async (_, other) => {
  const world = bareScene();
  world.service.has("i-other", other);
  const ended = create(world);
  await world.clock.sleep(10_000);
  world.service.set("i-1", { ipv4_public: address });
  expect((await ended).outputs).toMatchObject({ ipv4: address });
});

test.each<[string, Partial<ListItem>, Partial<ListItem>]>([
  ["has none since a moment ago", {}, bare],
  ["has got one meanwhile", bare, { ipv4_public: address }],
])("another instance that %s says nothing about the address either", async (_, before, after) => {
  const world = scene();
  world.service.has("i-other", before);
  world.service.posts.push((body, signals, service) => {
    service.set("i-other", after);
    return listedAs(bare)(body, signals, service);
  });
  const ended = create(world);
  await world.clock.sleep(10_000);
  world.service.set("i-1", { ipv4_public: address });
  expect((await ended).outputs).toMatchObject({ ipv4: address });
});

test("an instance that is OFFLINE is not asked for its address", async () => {
  const world = bareScene(1, { status: "OFFLINE", ipv4_public: undefined });
  await create(world);
  expect(world.messages.warnings).toEqual([expect.stringContaining("is OFFLINE")]);
});

test.each<[string, (world: Scene) => void]>([
  ["a refused token", ({ service }) => service.listFaults.push(fail(answered(401, "GET")))],
  [
    "listings that are cut off before the instance",
    ({ service }) => {
      service.instances.delete("i-1");
      for (let n = 0; n < 300; n++)
        service.has(`x-${n}`, { status: n < 150 ? "ACTIVE" : "OFFLINE" });
    },
  ],
])("the wait ended by %s leaves the instance unfinished", async (_, end) => {
  const world = bareScene();
  const ended = unfinishedOf(create(world));
  await world.clock.sleep(10_000);
  end(world);
  expect((await ended).state.outputs).toMatchObject({ status: "ACTIVE", ipv4: "" });
  expect(world.messages.warnings).toEqual([]);
});

test("listings that fail for a while don't end the wait", async () => {
  const world = bareScene();
  const ended = create(world);
  await world.clock.sleep(10_000);
  const faults = Array.from({ length: 20 }, () => fail(answered(503, "GET")));
  world.service.listFaults.push(...faults);
  expect((await ended).outputs).toMatchObject({ status: "ACTIVE", ipv4: "" });
  expect(world.messages.warnings).toEqual([noAddress]);
});

test("OFFLINE ends the wait with a warning once it has been listed for the settling time", async () => {
  const world = bareScene();
  const ended = create(world);
  await world.clock.sleep(10_000);
  world.service.set("i-1", { status: "OFFLINE", ipv4_public: undefined });
  expect((await ended).outputs).toMatchObject({ status: "OFFLINE", ipv4: "" });
  expect(world.clock.now()).toBeGreaterThan(70_000);
  expect(world.messages.warnings).toEqual([expect.stringContaining("is OFFLINE")]);
});

test("an instance that is proven gone during the wait is unfinished, so that the next run makes it anew", async () => {
  const world = bareScene(1, { status: "PROVISIONING" });
  const ended = unfinishedOf(create(world));
  // Until the settling time is over, a listing that lacks it proves nothing.
  await world.clock.sleep(60_000);
  world.service.set("i-1", bare);
  await world.clock.sleep(10_000);
  world.service.instances.clear();
  expect((await ended).isGone).toBe(true);
});

/** What the state holds after a Ctrl-C in the wait for the address. */
async function interrupted(world: Scene, resource = "web"): Promise<State> {
  const ended = unfinishedOf(create(world, { resource, name: resource }));
  await world.clock.sleep(10_000);
  world.cancel();
  const { state } = await ended;
  expect(state.outputs).toMatchObject({ status: "ACTIVE" });
  expect(world.messages.warnings).toEqual([]);
  return state;
}

test("an interrupted wait stays unfinished: refreshes keep it so, and the next up goes on until the address is listed (G1)", async () => {
  const world = bareScene(2);
  const [state] = await Promise.all([interrupted(world), interrupted(world, "db")]);

  const next = world.nextRun();
  show(next, ["i-1", "i-2"], state);
  const kept = await unfinishedOf(refresh(next, state));
  expect(kept.message).toContain("`pulumi up` waits for it");
  const ended = update(next, kept.state);
  await world.clock.sleep(10_000);
  world.service.set("i-1", { ipv4_public: address });
  const outputs = await ended;
  expect(outputs).toMatchObject({ ipv4: address });
  expect("__unfinished" in outputs).toBe(false);
  expect(world.service.count("create")).toBe(2);
});

test("where others have no address, a refresh does not finish an unfinished instance without one, and the next up does", async () => {
  const world = bareScene();
  const state = await interrupted(world);
  world.service.has("i-other", bare);
  const next = world.nextRun();
  show(next, ["i-1"], state);
  const kept = await unfinishedOf(refresh(next, state));
  const outputs = await update(next, kept.state);
  expect(outputs).toMatchObject({ status: "ACTIVE", ipv4: "" });
  expect("__unfinished" in outputs).toBe(false);
});

test("waits for addresses share their listings: many cost as much as one (G7)", async () => {
  const costs = [1, 20].map(async (count) => {
    const world = bareScene(count);
    const { service } = world;
    const ended = createMany(world, count);
    await world.clock.sleep(20_000);
    for (const id of service.instances.keys()) service.set(id, { ipv4_public: address });
    await ended;
    return service.count("list");
  });
  const [one = 0, many = 0] = await Promise.all(costs);
  expect(many).toBe(one);
});

test("waitForPort runs beside: a port that answers at the private address does not end the wait for the public one", async () => {
  const world = bareScene();
  const ended = create(world, { inputs: { waitForPort: 22 } });
  await world.clock.sleep(10_000);
  expect(world.dialer.tries).toEqual(["10.0.0.5:22"]);
  world.service.set("i-1", { ipv4_public: address });
  expect((await ended).outputs).toMatchObject({ ipv4: address });
  expect(world.dialer.tries).toEqual(["10.0.0.5:22"]);
  expect(world.messages.warnings).toEqual([]);
});

test("a port that does not answer leaves the instance unfinished, and the address is not warned of", async () => {
  const world = bareScene();
  world.dialer.outcome = () => "ECONNREFUSED";
  const waiting = create(world, { inputs: { waitForPort: 22 }, timeoutSeconds: 90 });
  expect((await unfinishedOf(waiting)).message).toContain("port 22 of instance i-1");
  expect(world.messages.warnings).toEqual([]);
});

test("the Info column says what is awaited", async () => {
  const world = bareScene();
  const ended = create(world);
  await world.clock.sleep(15_000);
  world.service.set("i-1", { ipv4_public: address });
  await ended;
  expect(world.messages.all).toContain("status ACTIVE without an address, 1 s of 15 min, i-1");
});
