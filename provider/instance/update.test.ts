import { expect, test } from "@jest/globals";
import { InstanceUnfinished } from "../errors";
import { propertyMap, Secret, type PropertyMap } from "../propertyValue";
import { errorOf, inputsOf, scene, urnOf, type Scene } from "../testing/scene";
import { changedInputs } from "./diff";
import { outputsOfAccepted, outputsOfItem, markUnfinished } from "./state";
import { updateInstance } from "./update";

const stateOf = ({ session }: Scene) =>
  outputsOfAccepted(
    inputsOf(),
    { id: "i-1", name: "web", networks: [] },
    session.connection.place(),
    new Date(0),
  );
const importedState = ({ session }: Scene) =>
  outputsOfItem({ id: "i-1", name: "web", status: "ACTIVE" }, session.connection.place());

function update(
  { session }: Scene,
  oldOutputs: PropertyMap,
  more: { oldInputs?: PropertyMap; news?: PropertyMap; preview?: boolean } = {},
) {
  const request = {
    urn: urnOf("web"),
    id: "i-1",
    oldInputs: inputsOf(),
    news: inputsOf(),
    preview: false,
    timeoutSeconds: 20,
  };
  return updateInstance(session, { ...request, oldOutputs, ...more });
}

test("a wait that was cut short is gone on with, for the same instance (G1)", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web", status: "PROVISIONING" });
  world.service.listFaults.push(undefined, undefined, () =>
    world.service.set("i-1", { status: "ACTIVE" }),
  );
  const outputs = await update(world, markUnfinished(stateOf(world)));
  expect(outputs).toMatchObject({ status: "ACTIVE" });
  expect("__unfinished" in outputs).toBe(false);
  expect(world.service.count("create")).toBe(0);
});

test("one that is ready by now is done with one look", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web" });
  expect(await update(world, markUnfinished(stateOf(world)))).toMatchObject({ status: "ACTIVE" });
  expect(world.service.calls).toEqual(["account", "list"]);
});

test("one that is still not ready stays unfinished (G1)", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web", status: "PROVISIONING" });
  expect(await errorOf(update(world, markUnfinished(stateOf(world))))).toBeInstanceOf(
    InstanceUnfinished,
  );
});

test("cut short, it reports no claims: the engine keeps the old inputs, and they would look changed", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web", status: "PROVISIONING" });
  const oldInputs = propertyMap({ name: "web" });
  const before = outputsOfItem(
    { id: "i-1", name: "web", status: "PROVISIONING" },
    world.session.connection.place(),
  );
  const error = await errorOf(update(world, before, { oldInputs }));
  if (!(error instanceof InstanceUnfinished)) throw error;
  const sides = { oldInputs, oldOutputs: error.state.outputs, news: inputsOf() };
  expect(new Set(Object.values(changedInputs(sides)))).toEqual(new Set(["add"]));
});

test("one that is proven gone is an error with the way on", async () => {
  const error = await errorOf(update(scene(), markUnfinished(stateOf(scene()))));
  expect(error.message).toContain("no longer exists. Run `pulumi refresh`");
});

test("where the tenant is in doubt, it says so at once instead of waiting for another's instance", async () => {
  const made = scene();
  const outputs = markUnfinished(stateOf(made));
  const world = made.nextRun({ apiToken: new Secret("sk_live_another1") });
  expect((await errorOf(update(world, outputs))).message).toContain("another tenant's");
});

const imported = propertyMap({ name: "web" });

test("what a program claims of an imported instance is recorded with a warning; the next diff is empty (G5)", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web" });
  const news = inputsOf({ userData: new Secret("x") });
  const outputs = await update(world, importedState(world), { oldInputs: imported, news });
  expect(outputs).toMatchObject({ flavorId: "flavor-1", userData: new Secret("x") });
  expect(world.messages.warnings).toEqual([
    expect.stringContaining("flavorId, imageId, vpcId, userData of the imported instance i-1"),
  ]);
  expect(changedInputs({ oldInputs: news, oldOutputs: outputs, news })).toEqual({});
});

test("claims wait for nothing: not for a listing that does not reach it, nor for a status not told", async () => {
  for (const status of ["hidden", undefined]) {
    const world = scene();
    if (status) world.service.unreadable = 1;
    else world.service.has("i-1", { name: "web", status });
    const outputs = await update(world, importedState(world), { oldInputs: imported });
    expect(outputs).toMatchObject({ flavorId: "flavor-1", status: "ACTIVE" });
    expect(world.clock.now()).toBe(0);
  }
});

test("a preview sends nothing (G10)", async () => {
  const world = scene();
  const outputs = await update(world, importedState(world), { oldInputs: imported, preview: true });
  expect(outputs).toMatchObject({ flavorId: "flavor-1", status: "ACTIVE" });
  expect(world.service.calls).toEqual([]);
});

test("the stamp of the state stays", async () => {
  const world = scene();
  world.service.has("i-1", { name: "web" });
  const before = propertyMap({ ...markUnfinished(stateOf(world)), __run: "an-earlier-run" });
  expect((await update(world, before))["__run"]).toBe("an-earlier-run");
});
