/** Tests of the input `waitForPort`: when a port is tried, how the wait ends, and what is kept. */
import { expect, test } from "@jest/globals";
import type { ListItem } from "../api/contract";
import { InstanceUnfinished } from "../errors";
import { propertyMap, type PropertyMap } from "../pulumi/propertyValue";
import { answered, fail, failed, post, ready, type Post } from "../testing/fakeService";
import { errorOf, inputsOf, scene, urnOf, type Scene } from "../testing/scene";
import { changedInputs } from "./diff";
import { Instance } from "./instance";
import { portStatus, type AwaitedPort } from "./port";
import { readInstance } from "./read";
import { createInstance, updateInstance } from "../testing/calls";

const urn = urnOf("web");
const withPort = inputsOf({ waitForPort: 22 });
const at = { ipv4_public: "203.0.113.9" };

function create({ session }: Scene, timeoutSeconds = 0, inputs = withPort) {
  return createInstance(session, { urn, inputs, timeoutSeconds, preview: false });
}

/** A POST whose instance is listed so from the first listing on. */
const becomes =
  (change: Partial<ListItem>): Post =>
  (body, signals, service) => {
    const accepted = ready(body, signals, service);
    service.set("i-1", { ...at, ...change });
    return accepted;
  };

/** A scene whose instance is ACTIVE at once, and whose port does not answer before this clock time. */
function answersAt(ms: number, change: Partial<ListItem> = {}): Scene {
  const world = scene();
  const { service, dialer, clock } = world;
  service.posts.push(becomes(change));
  dialer.outcome = () => (clock.now() < ms ? "ECONNREFUSED" : "answer");
  return world;
}

async function unfinishedOf(waiting: Promise<unknown>): Promise<InstanceUnfinished> {
  const error = await errorOf(waiting);
  if (!(error instanceof InstanceUnfinished)) throw error;
  expect(error.id).toBe("i-1");
  expect(error.state.outputs).toMatchObject({ __unfinished: true, waitForPort: 22 });
  return error;
}

type State = Pick<InstanceUnfinished["state"], "inputs" | "outputs">;

const refresh = ({ session }: Scene, { inputs, outputs }: State) =>
  readInstance(session, { urn, id: "i-1", inputs, outputs, timeoutSeconds: 0 }, "refresh");

function update({ session }: Scene, { inputs, outputs }: State, news = withPort, preview = false) {
  const request = { urn, id: "i-1", oldInputs: inputs, oldOutputs: outputs, news, preview };
  return updateInstance(session, { ...request, timeoutSeconds: 60 });
}

/** What the state holds after a create whose port has answered. */
async function finished(world: Scene, inputs = withPort): Promise<State> {
  world.service.posts.push(becomes({}));
  const { outputs } = await create(world, 0, inputs);
  return { inputs, outputs };
}

test("if the service has no cursor, and no listing can show the instance, its port at the private address ends the create", async () => {
  const world = scene({ cursorParameter: "none" });
  world.dialer.outcome = () => (world.clock.now() < 200_000 ? "ECONNREFUSED" : "answer");
  world.service.posts.push((body, _signals, service) => {
    const accepted = service.accept(body);
    service.instances.delete("i-1");
    for (let n = 0; n < 150; n++) service.has(`x-${n}`);
    return accepted;
  });
  const { outputs } = await create(world);
  expect(outputs).toMatchObject({ ipv4: "", privateIpv4: "10.0.0.5" });
  expect("__unfinished" in outputs).toBe(false);
  expect(new Set(world.dialer.tries)).toEqual(new Set(["10.0.0.5:22"]));
  expect(world.clock.now()).toBeGreaterThan(200_000);
});

test("a create ends once the port answers at the public address, and the service does not get the input", async () => {
  const world = answersAt(4500);
  const { outputs } = await create(world);
  expect(outputs).toMatchObject({ status: "ACTIVE", ipv4: "203.0.113.9", waitForPort: 22 });
  expect("__unfinished" in outputs).toBe(false);
  expect(new Set(world.dialer.tries)).toEqual(new Set(["203.0.113.9:22"]));
  expect(world.dialer.tries.length).toBeGreaterThan(3);
  expect(Object.keys(world.service.bodies[0] ?? {})).toEqual([
    "name",
    "flavor_id",
    "image_id",
    "vpc_id",
  ]);
});

test("an instance without the input is ready without a connection", async () => {
  const world = answersAt(0);
  await create(world, 0, inputsOf());
  expect(world.dialer.tries).toEqual([]);
});

test("no port is tried before the instance is ACTIVE", async () => {
  const world = scene();
  const ended = create(world);
  await world.clock.sleep(20_000);
  expect(world.dialer.tries).toEqual([]);
  world.service.set("i-1", { status: "ACTIVE", ...at });
  await ended;
  expect(world.dialer.tries).toEqual(["203.0.113.9:22"]);
});

test("without a public address, the private one is tried, and the public one as soon as a listing shows it", async () => {
  const world = answersAt(0, { ipv4_public: undefined });
  const { service, dialer } = world;
  dialer.outcome = (target) => (target.startsWith("10.") ? "ECONNREFUSED" : "answer");
  const ended = create(world);
  await world.clock.sleep(10_000);
  service.set("i-1", { ...at });
  expect((await ended).outputs).toMatchObject({ ipv4: "203.0.113.9" });
  expect(dialer.tries[0]).toBe("10.0.0.5:22");
  expect(dialer.tries.at(-1)).toBe("203.0.113.9:22");
});

test("a port that never answers leaves the instance unfinished, with the last error, and the page with the ways out", async () => {
  const { message, state } = await unfinishedOf(create(answersAt(Infinity), 30));
  expect(message.split("\n")).toEqual([
    "port 22 of instance i-1 at 203.0.113.9 did not answer before the operation's 30 s (customTimeouts.create) were over: connection refused.",
    "It is kept in the state, and the next `pulumi up` goes on waiting for it.",
    expect.stringMatching(/^More: .*waiting\.md#until-a-port-answers$/),
  ]);
  expect(state.outputs).toMatchObject({ status: "ACTIVE", ipv4: "203.0.113.9" });
});

test.each([
  ["EHOSTUNREACH", "were over: host unreachable."],
  ["silence", "were over: connection timed out."],
] as const)(
  "on a machine that does not reach the network (%s), the error says so",
  async (outcome, says) => {
    const world = answersAt(0, { ipv4_public: undefined });
    world.dialer.outcome = () => outcome;
    const { message } = await unfinishedOf(create(world, 30));
    expect(message).toContain("at its private address 10.0.0.5 did not answer");
    expect(message).toContain(says);
  },
);

test("without any address, nothing is tried, and the error says so", async () => {
  const world = scene();
  world.service.posts.push((body, _signals, service) => {
    const accepted = service.accept(body);
    service.set("i-1", { status: "ACTIVE", ipv4_public: undefined });
    return { ...accepted, networks: [] };
  });
  expect((await errorOf(create(world, 30))).message).toContain("no address yet");
  expect(world.dialer.tries).toEqual([]);
});

test("after that, a refresh keeps the instance unfinished without a connection, and the next up waits for the same port and instance", async () => {
  const world = answersAt(Infinity);
  const { state } = await unfinishedOf(create(world, 30));
  world.dialer.tries.length = 0;
  const next = world.nextRun();
  const kept = await unfinishedOf(refresh(next, state));
  expect(kept.message).toContain(
    "instance i-1 was not ready when this run began: its port 22 had not answered",
  );
  expect(world.dialer.tries).toEqual([]);

  const again = await unfinishedOf(update(next, kept.state));
  expect(again.message).toContain("60 s (customTimeouts.update)");
  const answersAfter = world.clock.now() + 5000;
  world.dialer.outcome = () => (world.clock.now() < answersAfter ? "ECONNREFUSED" : "answer");
  const outputs = await update(next, again.state);
  expect(outputs).toMatchObject({ status: "ACTIVE", waitForPort: 22 });
  expect("__unfinished" in outputs).toBe(false);
  expect(world.service.count("create")).toBe(1);
});

test("an instance that was still PROVISIONING at the time-out is not finished by a refresh: its port was never tried", async () => {
  const world = scene();
  const { state } = await unfinishedOf(create(world, 20));
  world.service.set("i-1", { status: "ACTIVE", ...at });
  const kept = await unfinishedOf(refresh(world.nextRun(), state));
  expect(world.dialer.tries).toEqual([]);
  await update(world.nextRun(), kept.state);
  expect(world.dialer.tries).toEqual(["203.0.113.9:22"]);
});

test("leaving the input out finishes an instance whose port does not answer", async () => {
  const world = answersAt(Infinity);
  const { state } = await unfinishedOf(create(world, 30));
  world.dialer.tries.length = 0;
  const outputs = await update(world.nextRun(), state, inputsOf());
  expect(outputs).toMatchObject({ waitForPort: null });
  expect("__unfinished" in outputs).toBe(false);
  expect(world.dialer.tries).toEqual([]);
});

test("a port that was added while the instance was unfinished is still awaited after an up that timed out, although the engine kept the old inputs", async () => {
  const world = answersAt(Infinity);
  const old = inputsOf();
  world.service.posts.splice(0, 1);
  const error = await errorOf(create(world, 20, old));
  if (!(error instanceof InstanceUnfinished)) throw error;
  world.service.set("i-1", { status: "ACTIVE", ...at });
  const { state } = await unfinishedOf(update(world, error.state));
  await unfinishedOf(refresh(world, { inputs: old, outputs: state.outputs }));
});

test.each([
  ["left out again", inputsOf(), inputsOf(), null],
  ["changed back", inputsOf({ waitForPort: 21 }), inputsOf({ waitForPort: 21 }), 21],
])(
  "a port that was awaited in vain is %s with the next up, although the engine kept the old inputs",
  async (_, old, news, expected) => {
    const world = answersAt(Infinity);
    world.service.posts.splice(0, 1);
    const error = await errorOf(create(world, 20, old));
    if (!(error instanceof InstanceUnfinished)) throw error;
    world.service.set("i-1", { status: "ACTIVE", ...at });
    const { state } = await unfinishedOf(update(world, error.state));
    world.dialer.outcome = (target) => (target.endsWith(":22") ? "ECONNREFUSED" : "answer");
    const outputs = await update(world, { inputs: old, outputs: state.outputs }, news);
    expect(outputs).toMatchObject({ waitForPort: expected });
    expect("__unfinished" in outputs).toBe(false);
  },
);

test.each<[string, (world: Scene) => void, string]>([
  ["is gone", ({ service }) => service.instances.delete("i-1"), "missing from two complete"],
  [
    "has failed",
    ({ service }) => service.set("i-1", { status: "ERROR" }),
    'has the status "ERROR"',
  ],
  [
    "is stopped",
    ({ service }) => service.set("i-1", { status: "OFFLINE" }),
    "is OFFLINE, so its port 22 can't answer",
  ],
])("the wait for a port ends early if the instance %s", async (_, change, says) => {
  const world = answersAt(Infinity);
  const ended = unfinishedOf(create(world));
  await world.clock.sleep(100_000);
  change(world);
  expect((await ended).message).toContain(says);
  expect(world.clock.now()).toBeLessThan(180_000);
});

test("a port that answers does not end the wait while the instance is OFFLINE, and an address of the machine itself is not tried", async () => {
  const world = answersAt(20_000);
  const ended = create(world);
  await world.clock.sleep(15_000);
  world.service.set("i-1", { status: "OFFLINE" });
  await world.clock.sleep(30_000);
  world.service.set("i-1", { status: "ACTIVE" });
  expect((await ended).outputs).toMatchObject({ status: "ACTIVE" });
  expect(world.clock.now()).toBeGreaterThan(45_000);
});

test("an instance that ends OFFLINE is unfinished if a port is awaited, and ready once it was started and the port answers", async () => {
  const world = answersAt(0, { status: "OFFLINE" });
  const { message, state } = await unfinishedOf(create(world));
  expect(message).toContain("Start it at the service, then run `pulumi up`");
  expect(world.dialer.tries).toEqual([]);
  expect(world.messages.warnings).toEqual([]);
  expect((await unfinishedOf(refresh(world.nextRun(), state))).message).toContain("was OFFLINE");
  world.service.set("i-1", { status: "ACTIVE" });
  expect(await update(world.nextRun(), state)).toMatchObject({ status: "ACTIVE" });
  expect(world.dialer.tries).toEqual(["203.0.113.9:22"]);
});

test("while ports are awaited, a listing is taken every fifth poll interval, for all instances together (G7)", async () => {
  const costs = [1, 20].map(async (count) => {
    const world = scene();
    const { service, dialer, clock } = world;
    dialer.outcome = () => (clock.now() < 100_000 ? "ECONNREFUSED" : "answer");
    const creates = Array.from({ length: count }, (_, n) => {
      service.posts.push(ready);
      const request = { urn: urnOf(`web-${n}`), inputs: inputsOf({ waitForPort: 22 }) };
      return createInstance(world.session, { ...request, timeoutSeconds: 0, preview: false });
    });
    await Promise.all(creates);
    return service.count("list");
  });
  const [one = 0, many = 0] = await Promise.all(costs);
  expect(one).toBeLessThan(12);
  expect(many).toBe(one);
});

test("listings that fail for a while do not end the wait, and a token that lacks the scope does", async () => {
  const world = answersAt(80_000);
  const ended = create(world);
  await world.clock.sleep(20_000);
  world.service.listFaults.push(...[1, 2].map(() => fail(answered(503, "GET"))));
  expect((await ended).outputs).toMatchObject({ status: "ACTIVE" });

  const refused = answersAt(Infinity);
  const failing = unfinishedOf(create(refused));
  await refused.clock.sleep(20_000);
  refused.service.listFaults.push(fail(answered(403, "GET")));
  expect((await failing).message).toContain("lacks the scope");
});

test("Ctrl-C ends the wait for a port at once, even during a try, and the instance is kept", async () => {
  const world = answersAt(Infinity);
  world.dialer.outcome = () => "silence";
  const ended = unfinishedOf(create(world));
  while (world.dialer.tries.length === 0) await world.clock.sleep(50);
  const before = world.clock.now();
  world.cancel();
  expect((await ended).message).toContain("the wait for port 22 of instance i-1 was canceled.");
  expect(world.clock.now()).toBe(before);
});

test("the Info column shows the port, and how the last try failed", async () => {
  const world = answersAt(25_000);
  await create(world);
  const shown = world.messages.all.filter((line) => line.startsWith("status"));
  expect(shown).toEqual(["status port 22: connection refused, 1 s of 15 min, i-1"]);
});

test.each<[AwaitedPort["failed"], string]>([
  [undefined, "awaiting port 22"],
  [{}, "port 22: no address yet"],
  [{ address: "203.0.113.9", code: "ETIMEDOUT" }, "port 22: connection timed out"],
  [{ address: "203.0.113.9", code: "EODD" }, "port 22: EODD"],
  [{ address: "203.0.113.9" }, "port 22: no connection"],
])("after the try %j, the Info column begins with %j", (failed, text) => {
  expect(portStatus({ number: 22, failed })).toBe(text);
});

test("a create that is resumed, and one whose answer was lost, also wait for the port (G1)", async () => {
  const inputs = inputsOf({ name: "web-aaaaaaa1", __generated: "web-aaaaaaa1", waitForPort: 22 });
  const lost = answersAt(0);
  lost.service.posts.splice(0, 1, post(failed("unanswered"), { acts: true }));
  const takenOver = create(lost, 0, inputs);
  await lost.clock.sleep(1000);
  lost.service.set("i-1", { status: "ACTIVE", ...at });
  await takenOver;
  expect(lost.dialer.tries).toEqual(["203.0.113.9:22"]);

  const killed = answersAt(Infinity);
  void create(killed, 0, inputs).catch(() => undefined);
  while (killed.dialer.tries.length === 0) await killed.clock.sleep(50);
  killed.dialer.outcome = () => "answer";
  const before = killed.dialer.tries.length;
  expect((await create(killed.nextRun(), 0, inputs)).id).toBe("i-1");
  expect(killed.dialer.tries.length).toBeGreaterThan(before);
  expect(killed.service.count("create")).toBe(1);
});

test.each<[string, PropertyMap, PropertyMap, object]>([
  ["adding", inputsOf(), withPort, { waitForPort: 22 }],
  ["changing", withPort, inputsOf({ waitForPort: 80 }), { waitForPort: 80 }],
  ["leaving out", withPort, inputsOf(), { waitForPort: null }],
])(
  "%s the input is an update in place that sends nothing and connects to nothing (G5)",
  async (_, before, news, outputs) => {
    const world = scene();
    const state = await finished(world, before);
    const { service, dialer } = world;
    dialer.tries.length = 0;
    service.calls.length = 0;
    const held = new Instance({ urn, id: "i-1", ...state });
    expect(changedInputs(held, news)).toMatchObject({
      replaced: [],
      asserted: [],
      recorded: ["waitForPort"],
    });
    for (const preview of [true, false]) {
      expect(await update(world, state, news, preview)).toMatchObject(outputs);
    }
    const after = { inputs: news, outputs: await update(world, state, news) };
    expect(changedInputs(new Instance({ urn, id: "i-1", ...after }), news).detailed).toEqual({});
    expect([...service.calls, ...dialer.tries, ...world.messages.warnings]).toEqual([]);
  },
);

test("a refresh, a lookup and the preview of a create never connect", async () => {
  const world = scene();
  const state = await finished(world);
  const { service, dialer } = world;
  world.session.ledger.endInOrder();
  dialer.tries.length = 0;
  const request = { urn, id: "i-1", timeoutSeconds: 0 };
  const none = propertyMap({});
  expect((await refresh(world, state))?.outputs).toMatchObject({ waitForPort: 22 });
  service.set("i-1", { status: "OFFLINE" });
  const next = world.nextRun();
  const { session } = next;
  await refresh(next, state);
  expect(next.messages.warnings).toEqual([expect.stringContaining("is OFFLINE")]);
  await readInstance(session, { ...request, inputs: none, outputs: none }, "lookup");
  const preview = { urn, inputs: withPort, timeoutSeconds: 0, preview: true };
  expect((await createInstance(session, preview)).outputs).toMatchObject({ waitForPort: 22 });
  expect(dialer.tries).toEqual([]);
});
