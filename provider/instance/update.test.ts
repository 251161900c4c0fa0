/** Tests of Update: unfinished instances, and inputs that a program asserts. */
import { expect, test } from "@jest/globals";
import { InstanceUnfinished } from "../errors";
import { propertyMap, Secret, Unknown, type PropertyMap } from "../pulumi/propertyValue";
import type { UpdateRequest } from "../pulumi/calls";
import { answered } from "../testing/fakeService";
import {
  acceptedOutputs,
  errorOf,
  inputsOf,
  scene,
  urnOf,
  type Scene,
  held,
  unfinished,
  verdicts,
} from "../testing/scene";
import { changedInputs } from "./diff";
import { Instance } from "./instance";
import { updateInstance } from "../testing/calls";
import { decideUpdate } from "./update";

const importedState = ({ session }: Scene, status = "ACTIVE") =>
  Instance.listed(urnOf("web"), { id: "i-1", name: "web", status }, session.connection.origin())
    .outputs;

function update({ session }: Scene, oldOutputs: PropertyMap, more: Partial<UpdateRequest> = {}) {
  const held = { urn: urnOf("web"), id: "i-1", oldInputs: inputsOf(), oldOutputs };
  const request = { ...held, news: inputsOf(), preview: false, timeoutSeconds: 20, ...more };
  return updateInstance(session, request);
}

const { absent, listed, open } = verdicts;
const ready = { isUnfinished: false, status: "ACTIVE" };
const provisioning = { isUnfinished: false, status: "PROVISIONING" };
const left = { isUnfinished: true, status: "ACTIVE" };
/** Returns the outputs of a finished instance that a listing has shown as PROVISIONING. */
const provisioningIn = (outputs: PropertyMap) => propertyMap({ ...outputs, ...provisioning });

test.each([
  ["ready", ready, absent, "refuse"],
  ["unfinished", left, absent, "refuse"],
  ["ready", ready, listed("ACTIVE"), "take"],
  ["ready", ready, listed("PROVISIONING"), "wait"],
  ["ready", ready, open("incomplete"), "take"],
  ["ready", ready, open("tenant"), "take"],
  ["provisioning", provisioning, listed("ACTIVE"), "take"],
  ["provisioning", provisioning, listed("PROVISIONING"), "wait"],
  ["provisioning", provisioning, open("incomplete"), "wait"],
  ["provisioning", provisioning, open("tenant"), "wait"],
  ["unfinished", left, listed("ACTIVE"), "wait"],
  ["unfinished", left, open("incomplete"), "wait"],
  ["unfinished", left, open("tenant"), "wait"],
] as const)("what an update does with a state that is %s: %#", (_, before, verdict, expected) => {
  expect(decideUpdate(before, verdict)).toBe(expected);
});

test("a wait that ended early is continued, for the same instance (G1)", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web", status: "PROVISIONING" });
  world.service.listFaults.push(undefined, undefined, () =>
    world.service.set("i-1", { status: "ACTIVE" }),
  );
  const kept = { __run: "an-earlier-run", __known: ["i-0"] };
  const before = propertyMap({ ...acceptedOutputs(world), ...kept });
  const outputs = await update(world, unfinished(before));
  expect(outputs).toMatchObject({ status: "ACTIVE", ...kept });
  expect("__unfinished" in outputs).toBe(false);
  expect(world.service.count("create")).toBe(0);
});

test("for an instance that is ready by now, an update fetches one listing", async () => {
  for (const mark of [unfinished, provisioningIn]) {
    const world = scene();
    world.service.has("i-1", { name: "web" });
    const outputs = await update(world, mark(acceptedOutputs(world)));
    expect(outputs).toMatchObject({ status: "ACTIVE" });
    expect(world.service.calls).toEqual(["account", "list"]);
  }
});

test("an instance whose imported inputs are recorded has no networks, and the preview warns a program that reads one", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web" });
  const oldInputs = propertyMap({ name: "web" });
  await update(world, importedState(world), { oldInputs, preview: true });
  expect(world.messages.warnings).toEqual([
    expect.stringMatching(/^warning the state records .*\nnetworks, privateIpv4 .* stay empty/),
  ]);
  await update(world, acceptedOutputs(world), {});
  expect(world.messages.warnings).toHaveLength(1);
});

test("an instance that is still not ready stays unfinished, without asserted inputs, which the next Diff would take for changes (G1)", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web", status: "PROVISIONING" });
  const oldInputs = propertyMap({ name: "web" });
  const before = importedState(world, "PROVISIONING");
  const news = inputsOf({ waitForPort: 22 });
  const error = await errorOf(update(world, before, { oldInputs, news }));
  if (!(error instanceof InstanceUnfinished)) throw error;
  const kept = held(error.state.outputs, { inputs: oldInputs });
  const next = changedInputs(kept, news);
  expect([next.asserted, next.replaced, next.recorded]).toEqual([
    ["flavorId", "imageId", "vpcId"],
    [],
    [],
  ]);
});

test("a wait that goes on shows its own time-out in the Info column, and names it at the end", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web", status: "PROVISIONING" });
  const error = await errorOf(update(world, unfinished(acceptedOutputs(world))));
  expect(world.messages.all).toContain("status PROVISIONING, 1 s of 20 s, i-1");
  expect(error.message).toContain("when the operation's 20 s (customTimeouts.update) were over");
});

test("after Ctrl-C, an update that an error hook repeats keeps what the state has (G1)", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web", status: "PROVISIONING" });
  world.service.listFaults.push(undefined, world.cancel);
  const before = unfinished(acceptedOutputs(world));
  expect(await errorOf(update(world, before))).toBeInstanceOf(InstanceUnfinished);
  expect(await update(world, before)).toMatchObject({ ...before, ipv4: "" });
});

test("an update that an error hook repeats succeeds only after an answer that had outputs", async () => {
  const world = scene();
  world.service.page = () => {
    throw answered(401, "GET");
  };
  const before = unfinished(acceptedOutputs(world));
  for (let call = 1; call <= 100; call++) {
    expect((await errorOf(update(world, before))).message).toContain("401");
  }
});

test("if the instance is proven gone, the error says what to do", async () => {
  const world = scene();
  for (const before of [unfinished(acceptedOutputs(world)), importedState(world)]) {
    const error = await errorOf(update(world, before, { oldInputs: imported }));
    expect(error.message).toContain("no longer exists. Run `pulumi refresh`");
  }
});

const imported = propertyMap({ name: "web" });

test("the inputs that a program asserts of an imported instance are recorded with a warning, and the next diff is empty (G5)", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web", ipv4_public: "192.0.2.9" });
  const news = inputsOf({ userData: new Secret("x") });
  const outputs = await update(world, importedState(world), { oldInputs: imported, news });
  const shown = { flavorId: "flavor-1", userData: new Secret("x"), ipv4: "192.0.2.9" };
  expect(outputs).toMatchObject(shown);
  expect(world.messages.warnings).toEqual([
    expect.stringContaining("the state records flavorId, imageId, vpcId, userData as the program"),
  ]);
  expect(changedInputs(held(outputs, { inputs: news }), news).detailed).toEqual({});
});

test("inputs that become secret are secret in the outputs, too, after an update that sends nothing (G8)", async () => {
  const world = scene();
  const inputs = inputsOf({ sshKeys: ["key-1"] });
  const oldOutputs = propertyMap({ ...inputs, name: "WEB", status: "ACTIVE" });
  const news = inputsOf({ name: new Secret("web"), sshKeys: new Secret(["key-1"]) });
  const changed = changedInputs(held(oldOutputs, { inputs }), news);
  expect(changed).toMatchObject({ detailed: {}, recorded: ["name", "sshKeys"] });
  const outputs = await update(world, oldOutputs, { oldInputs: inputs, news });
  expect(outputs).toMatchObject({ name: new Secret("WEB"), sshKeys: new Secret(["key-1"]) });
  expect(changedInputs(held(outputs, { inputs: news }), news).recorded).toEqual([]);
  expect(world.service.calls).toEqual([]);
});

test("asserted inputs are recorded without a wait, even if no listing shows the instance or its status", async () => {
  for (const status of ["hidden", undefined]) {
    const world = scene();
    if (status) world.service.unreadable = 1;
    else world.service.has("i-1", { name: "web", status });
    const outputs = await update(world, importedState(world), { oldInputs: imported });
    expect(outputs).toMatchObject({ flavorId: "flavor-1", status: "ACTIVE" });
    expect(world.clock.now()).toBe(0);
  }
});

test("of a state that was written with nulls, preview and update have empty outputs (G10)", async () => {
  const outputs = { privateIpv4: "", ipv4: "", networks: [] };
  for (const preview of [true, false]) {
    const world = scene();
    world.service.unreadable = 1;
    const nulls = { privateIpv4: null, ipv4: null, networks: null };
    const before = propertyMap({ ...importedState(world), ...nulls });
    expect(await update(world, before, { oldInputs: imported, preview })).toMatchObject(outputs);
  }
});

test("preview and update show the name as the service does (G10)", async () => {
  const world = scene();
  const name = "web.example.com";
  world.service.has("i-1", { name });
  const before = propertyMap({ ...acceptedOutputs(world), name, status: "ACTIVE" });
  for (const preview of [true, false]) {
    const news = inputsOf({ name: "web", waitForPort: 22 });
    expect(await update(world, before, { news, preview })).toMatchObject({ name });
  }
});

test("a preview sends nothing (G10)", async () => {
  const world = scene();
  const outputs = await update(world, importedState(world), { oldInputs: imported, preview: true });
  expect(outputs).toMatchObject({ flavorId: "flavor-1", status: "ACTIVE" });
  expect(world.service.calls).toEqual([]);
});

test("the preview of a wait does not know the status and the address yet (G10)", async () => {
  const world = scene();
  const before = unfinished(acceptedOutputs(world));
  const outputs = await update(world, before, { preview: true });
  const unknown = { status: Unknown.value, ipv4: Unknown.value, networks: [] };
  expect(outputs).toEqual(expect.objectContaining(unknown));
});
