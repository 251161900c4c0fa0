/** Tests of Read: of a refresh, of a lookup (an import, a `.get()`, `exists`), and of the refresh of what a `.get()` has read. */
import { expect, test } from "@jest/globals";
import { InstanceUnfinished } from "../errors";
import { propertyMap, Secret, type PropertyMap, type PropertyValue } from "../pulumi/propertyValue";
import { answered, fail } from "../testing/fakeService";
import {
  acceptedOutputs,
  errorOf,
  inputsOf,
  scene,
  testToken,
  urnOf,
  type Scene,
  held,
  unfinished,
} from "../testing/scene";
import { Instance } from "./instance";
import { readInstance } from "./read";

const urn = urnOf("web");
const common = { urn, id: "i-1", timeoutSeconds: 0 };
const empty = propertyMap({});

/** The outputs in the state after a create with the settings of this scene, and a first listing of the instance. */
function stateOf(world: Scene, status = "ACTIVE"): PropertyMap {
  const origin = world.session.connection.origin();
  return held(acceptedOutputs(world)).seenAs({ id: "i-1", name: "web", status }, origin).outputs;
}

const refresh = (
  world: Scene,
  outputs: PropertyMap = stateOf(world),
  inputs = inputsOf(),
  timeoutSeconds = 0,
) => readInstance(world.session, { ...common, inputs, outputs, timeoutSeconds }, "refresh");
const lookUp = ({ session }: Scene, more: { id?: string; urn?: string } = {}) =>
  readInstance(session, { ...common, inputs: empty, outputs: empty, ...more }, "lookup");
const anotherToken = { apiToken: new Secret("sk_live_another1") };

/** The outputs right after a 202 with this name, accepted now or at `acceptedAt`. */
const justAccepted = ({ session, clock }: Scene, name = "web", acceptedAt = clock.date()) =>
  Instance.accepted(
    { urn, inputs: inputsOf({ name }) },
    { id: "i-1", name, networks: [] },
    session.connection.origin(),
    acceptedAt.toISOString(),
  ).outputs;

test("a refresh updates status, address and origin, and keeps the rest", async () => {
  const world = scene();
  world.service.accountAnswer = () => ({ id: "acc-1" });
  world.service.has("i-1", { name: "web", status: "OFFLINE" });
  const kept = { flavorId: "flavor-1", __known: ["i-0"] };
  const read = await refresh(world, propertyMap({ ...stateOf(world), ...kept }));
  expect(read).toMatchObject({
    id: "i-1",
    inputs: inputsOf(),
    outputs: { status: "OFFLINE", ipv4: "203.0.113.9", ...kept },
  });
  expect(held(read?.outputs).origin?.account).toBe("acc-1");
  expect(world.messages.warnings).toEqual([
    expect.stringMatching(/is OFFLINE: .*Start it at the service/),
  ]);
});

test("a name that changed at the service is drift of the output, and the input stays", async () => {
  const world = scene();
  const inputs = inputsOf({ name: new Secret("Web") });
  world.service.has("i-1", { name: "renamed" });
  const read = await refresh(world, stateOf(world), inputs);
  expect(read?.inputs).toEqual(inputs);
  expect(read?.outputs["name"]).toEqual("renamed");
  expect(world.session.engine.resource(urnOf("web")).drift).toContain("name");
  await refresh(world, read?.outputs, inputs);
  expect(world.session.engine.resource(urnOf("web")).drift).toEqual([]);
});

test("a refresh notes a new status or address as drift, but not the end of a wait", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web", ipv4_public: "203.0.113.9" });
  const web = world.session.engine.resource(urnOf("web"));
  const seen = (await refresh(world))?.outputs;
  expect(web.drift).toEqual(["ipv4"]);
  await refresh(world, seen);
  expect(web.drift).toEqual([]);
  world.service.set("i-1", { status: "OFFLINE", ipv4_public: "203.0.113.10" });
  await world.clock.sleep(3000);
  await refresh(world, seen);
  expect(web.drift).toEqual(["status", "ipv4"]);
  // One listing as OFFLINE does not finish it.
  const left = await errorOf(refresh(world, unfinished(stateOf(world, "PROVISIONING"))));
  expect(left.message).toContain("it was OFFLINE. `pulumi up` waits for it");
  expect(web.drift).toEqual([]);
});

/** Shows the session, by a call, another instance that the service lists. */
function showAnother({ service, session }: Scene): void {
  service.has("i-other");
  session.noteShown({ id: "i-other", origin: undefined });
}

test("an instance that two listings lack is gone, and the result is empty (G3)", async () => {
  const world = scene();
  showAnother(world);
  expect(await refresh(world)).toBeUndefined();
  expect(world.service.count("list")).toBe(2);
});

test("a billed instance is gone only once none of ours has been listed for the settling time, and the Info column says what is awaited (G3)", async () => {
  const world = scene();
  // A foreign instance proves nothing.
  world.service.has("i-foreign");
  const ended = refresh(world);
  await world.clock.sleep(50_000);
  world.service.has("i-1", { name: "web" });
  expect((await ended)?.id).toBe("i-1");
  expect(world.messages.all).toContain("status not listed, looking again, 31 s of 5 min, i-1");
  world.service.instances.delete("i-1");
  await world.clock.sleep(3000);
  const begunAt = world.clock.now();
  expect(await refresh(world)).toBeUndefined();
  const tookMs = world.clock.now() - begunAt;
  expect(tookMs).toBeGreaterThanOrEqual(60_000);
  expect(tookMs).toBeLessThan(61_000);
  // What took a minute for one call has not to be awaited by the next.
  await refresh(world);
  expect(world.clock.now() - begunAt - tookMs).toBeLessThan(5000);
});

test.each<[string, Record<string, PropertyValue>, number, number]>([
  ["at once with a test token", { apiToken: new Secret(testToken) }, 300, 3],
  ["after the settling time, if that is shorter", { settlingSeconds: 20 }, 300, 20],
  ["after half of the operation's time, if that is shorter", {}, 30, 15],
])("where none is listed, the proof comes %s", async (_, args, timeoutSeconds, seconds) => {
  const world = scene(args);
  expect(await refresh(world, undefined, undefined, timeoutSeconds)).toBeUndefined();
  expect(world.clock.now() / 1000).toBeCloseTo(seconds, 0);
});

test.each<[string, (world: Scene) => unknown, string]>([
  [
    "lacks it and is not complete",
    ({ service }) => (service.unreadable = 1),
    "can't be read, for want of a printable id",
  ],
  [
    "has no id in common with the one before",
    ({ service }) =>
      (service.page = () => ({
        items: [{ id: `i-other-${service.count("list")}` }],
        hasMore: false,
        unreadable: 0,
      })),
    "no id in common",
  ],
  [
    "is cut off",
    ({ service }) => {
      for (let n = 0; n < 150; n++) service.has(`x-${n}`);
    },
    "compute:cursorParameter",
  ],
])("if a listing %s, the state stays, with one warning (G3)", async (_what, prepare, words) => {
  const world = scene();
  prepare(world);
  const outputs = stateOf(world);
  expect(await refresh(world, outputs)).toEqual(held(outputs));
  expect(world.messages.warnings).toEqual([expect.stringContaining(words)]);
});

test("if the cursor does not help, the warning about the cut-off listing names it", async () => {
  const world = scene({ cursorParameter: "after" });
  for (let n = 0; n < 150; n++) world.service.has(`x-${n}`);
  await refresh(world);
  expect(world.messages.warnings.at(-1)).toContain(
    'this run no longer uses compute:cursorParameter "after"',
  );
});

test("if a listing fails, Read fails, and the state stays (G3)", async () => {
  const world = scene();
  const error = answered(500, "GET");
  world.service.listFaults.push(fail(error));
  expect(await errorOf(refresh(world))).toBe(error);
});

test.each([
  [{ baseUrl: "https://b.example/v2" }, "https://api.example.com/v2"],
  [{ apiToken: new Secret(testToken) }, "made with a live token"],
])("with another %j, Read fails and names the difference (G3)", async (args, words) => {
  const made = scene();
  const outputs = stateOf(made);
  const world = made.nextRun(args);
  expect((await errorOf(refresh(world, outputs))).message).toContain(words);
  expect(world.service.count("list")).toBe(0);
});

test("with another account, Read fails and names both (G3)", async () => {
  const world = scene();
  const origin = { ...world.session.connection.origin(), account: "acc-1" };
  const outputs = propertyMap({ __origin: propertyMap(origin) });
  world.service.accountAnswer = () => ({ id: "acc-2" });
  expect((await errorOf(refresh(world, outputs))).message).toContain(
    "belongs to account acc-1, but the token given now is of account acc-2",
  );
});

test("with another token, an instance is gone only if a listing shows another instance recorded with the first token (G3)", async () => {
  const made = scene();
  const outputs = stateOf(made);
  const world = made.nextRun(anotherToken);
  world.service.has("i-2");
  world.session.noteShown(held(stateOf(world), { id: "i-2" }));
  expect(await refresh(world, outputs)).toMatchObject({ id: "i-1" });
  expect(world.messages.warnings).toEqual([expect.stringContaining("may be another tenant's")]);

  world.session.noteShown(held(outputs, { id: "i-2" }));
  await world.clock.sleep(5000);
  expect(await refresh(world, outputs)).toBeUndefined();
});

test("with another token, an instance that is listed is found, and its origin renewed", async () => {
  const made = scene();
  const outputs = stateOf(made);
  const world = made.nextRun(anotherToken);
  world.service.has("i-1", { name: "web" });
  const read = await refresh(world, outputs);
  expect(held(read?.outputs).origin?.tokenHash).toBe(world.session.connection.origin().tokenHash);
});

test("an instance that is still PROVISIONING is marked as unfinished, so that the next up waits for it (G1)", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web", status: "PROVISIONING" });
  const outputs = { status: "PROVISIONING", __unfinished: true };
  expect(await errorOf(refresh(world))).toMatchObject({ id: "i-1", state: { outputs } });
  // It may be a `.get()`, which fails for no status.
  expect(await lookUp(world)).toMatchObject({ id: "i-1", outputs });
});

test.each(["ACTIVE", "OFFLINE", "PROVISIONING", "REBOOTING"])(
  "the refresh of what a `.get()` has read changes nothing and says nothing, if the listing shows the same (status %s)",
  async (status) => {
    const world = scene();
    world.service.has("i-1", { name: "web", status });
    const { outputs = empty } = (await lookUp(world)) ?? {};
    const next = world.nextRun();
    const read = { ...common, inputs: empty, outputs };
    expect(await readInstance(next.session, read, "external")).toMatchObject({
      inputs: empty,
      outputs,
    });
    expect([...world.messages.warnings, ...next.messages.warnings]).toEqual([]);
    // A create that is in doubt may still take it over.
    expect(next.session.state.shown.has("i-1")).toBe(false);
    // Even if it is gone from a listing that proves nothing, no `up` goes on waiting for it.
    world.service.instances.delete("i-1");
    world.service.unreadable = 1;
    await world.clock.sleep(5000);
    expect(await readInstance(next.session, read, "external")).toMatchObject({ outputs });
  },
);

test("`exists` is answered with nothing for an instance that is proven absent, and an open verdict is an error", async () => {
  const world = scene();
  const question = { urn: urnOf("__exists__0") };
  expect(await lookUp(world, question)).toBeUndefined();
  // A wrong "no" makes programs create, so a list of nothing has to last.
  expect(world.clock.now()).toBeGreaterThanOrEqual(60_000);
  world.service.unreadable = 1;
  await world.clock.sleep(5000);
  expect((await errorOf(lookUp(world, question))).message).toContain("may still exist");
});

test("a lookup looks once more, although this run has just listed: its instance may be newer", async () => {
  const world = scene();
  showAnother(world);
  for (const id of ["i-8", "i-9"]) await errorOf(lookUp(world, { id }));
  expect(world.service.count("list")).toBe(3);
});

test("an unfinished instance is finished once it is ACTIVE", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web" });
  const read = await refresh(world, unfinished(stateOf(world, "PROVISIONING")));
  expect(read && "__unfinished" in read.outputs).toBe(false);
});

test("an unfinished instance that no listing shows stays unfinished (G1)", async () => {
  const world = scene();
  world.service.unreadable = 1;
  const error = await errorOf(refresh(world, unfinished(stateOf(world, "PROVISIONING"))));
  expect(error).toBeInstanceOf(InstanceUnfinished);
});

test("an undocumented status is a warning, and an unfinished instance stays unfinished with it", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web", status: "REBOOTING" });
  expect(await refresh(world)).toMatchObject({ outputs: { status: "REBOOTING" } });
  expect(world.messages.warnings).toEqual([
    expect.stringMatching(
      /"REBOOTING".*`pulumi refresh` shows whether it has changed.*: `pulumi state delete /,
    ),
  ]);
  expect(await errorOf(refresh(world, unfinished(stateOf(world))))).toBeInstanceOf(
    InstanceUnfinished,
  );
});

test.each(["ACTIVE", undefined])(
  "an import has what the list shows, required outputs that are empty, and null for the rest (status %s)",
  async (status) => {
    const world = scene();
    world.service.has("i-1", { name: "web", status });
    const read = await lookUp(world);
    expect(read?.inputs).toEqual({ name: "web" });
    const notShown = { networks: [], privateIpv4: "", flavorId: "", sshKeys: null };
    const expected = { status: status ?? "", ...notShown };
    expect(read?.outputs).toMatchObject(expected);
    expect(world.messages.warnings).toEqual([]);
  },
);

const unknown = (id: string) =>
  `no instance that this live token shows at https://api.example.com/v2 has the id "${id}". `;

test("an import or a get of an unknown id fails", async () => {
  const world = scene();
  const message = `${unknown("i-1")}Check the id, compute:baseUrl and the token.`;
  expect((await errorOf(lookUp(world))).message).toBe(message);
});

test.each([
  ["a name", "web", "i-7 or i-8"],
  ["a public address", "203.0.113.9", "i-7"],
  ["a URL", "https://portal.example.com/instances/i-7/", "i-7"],
  ["white space around the id", " i-7\n", "i-7"],
])("an import that gives %s in place of the id names the id", async (_, given, ids) => {
  const world = scene();
  world.service.has("i-7", { name: "web.example.com", ipv4_public: "203.0.113.9" });
  world.service.has("i-8", { name: "web", ipv4_public: "203.0.113.10" });
  const { message } = await errorOf(lookUp(world, { id: given }));
  expect(message).toBe(`${unknown(given)}Give the id itself: ${ids}.`);
});

test("an import that gives a blank id is told of no instance, not even of one without a name", async () => {
  const world = scene();
  world.service.has("i-7", { name: "" });
  expect((await errorOf(lookUp(world, { id: " " }))).message).toContain("Check the id");
});

test("a failed try that was repeated with success is not the last one of a time-out", async () => {
  const world = scene();
  world.service.has("i-2", { name: "other" });
  world.service.listFaults.push(() => {
    const [method, path] = ["GET", "/v2/instances"];
    const error = answered(503, method);
    world.session.operations.retrying({ method, path, error, inMs: 1000, isAsked: false });
  });
  const request = {
    ...common,
    inputs: inputsOf(),
    outputs: justAccepted(world),
    timeoutSeconds: 30,
  };
  const { message } = await errorOf(readInstance(world.session, request, "refresh"));
  expect(message).toContain("timed out after 30 s");
  expect(message).not.toContain("the last try failed");
});

test("an import fails if no listing shows the instance but it may exist", async () => {
  const world = scene();
  world.service.unreadable = 1;
  expect((await errorOf(lookUp(world))).message).toContain("may still exist");
});

test("an instance that was listed right after its creation does not count as gone if a replica lags (G1, G3)", async () => {
  const world = scene();
  const { clock, service } = world;
  service.has("i-1", { name: "web" });
  const seen = (await refresh(world, justAccepted(world)))?.outputs;
  service.instances.delete("i-1");
  await clock.sleep(3000);
  void clock.sleep(40_000).then(() => service.has("i-1", { name: "web" }));
  const read = await refresh(world, seen);
  expect(read).toMatchObject({ id: "i-1" });
  expect(clock.now()).toBeGreaterThanOrEqual(40_000);

  // After the settling time, the instance is treated like any other.
  await clock.sleep(20_000);
  const settled = (await refresh(world, read?.outputs))?.outputs;
  expect(settled && "__accepted" in settled).toBe(false);
  service.instances.delete("i-1");
  await clock.sleep(3000);
  expect(await refresh(world, settled)).toBeUndefined();
});

test("if the list spells the name differently from the 202, that is no drift", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web-main" });
  const inputs = inputsOf({ name: "Web-Main" });
  const unseen = unfinished(justAccepted(world, "Web-Main", new Date(0)));
  const read = await refresh(world, unseen, inputs);
  expect(read?.inputs["name"]).toBe("Web-Main");
  expect(read?.outputs["name"]).toBe("web-main");
  expect(world.session.engine.resource(urnOf("web")).drift).toEqual([]);
});

test("the outputs of a lookup have the stamp of its session, and those of a refresh the stamp in the state", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web" });
  expect((await lookUp(world))?.outputs["__run"]).toBe(world.session.id);
  // Only the Check of an import notes it.
  expect(world.session.state.shown.has("i-1")).toBe(false);
  const kept = propertyMap({ ...stateOf(world), __run: "an-earlier-run" });
  expect((await refresh(world, kept))?.outputs["__run"]).toBe("an-earlier-run");
  expect("__run" in ((await refresh(world))?.outputs ?? {})).toBe(false);
});
