/** Tests the current version with states that released versions wrote: no instance is replaced or lost. */
import { expect, test } from "@jest/globals";
import { DiffResponse } from "@pulumi/pulumi/proto/provider_pb";
import type { PropertyMap } from "../../provider/pulumi/propertyValue";
import { isScript, type InputName } from "../../provider/instance/definition";
import { placed, properties, recordedStates, recordStates, type Recorded } from "./fixtures/states";
import { lasting, urnOf } from "./support/stack";
import { withWorld, type World } from "./support/world";

if (process.env["COMPUTE_RECORD"]) test("records the states of this version", recordStates);

/** Runs a test with the recorded state and a service that has its instance. */
async function withState(
  recorded: Recorded,
  body: (world: World, local: Recorded) => Promise<void>,
): Promise<void> {
  await withWorld({}, async (world) => {
    const local = placed(recorded, world.service.url);
    const { id, unfinished } = local.held;
    world.service.control.insert(local.listed);
    world.stack.hold("web", {
      id,
      inputs: properties(local.held.inputs),
      outputs: properties(local.held.outputs),
      initErrors: unfinished ? ["not finished"] : [],
      refreshBeforeUpdate: unfinished,
    });
    await body(world, local);
    expect(world.posts).toBe(0);
    expect(world.stack.ids).toEqual([id]);
    expect(world.ids).toEqual([id]);
  });
}

const states = recordedStates().map((state) => [`${state.version}, ${state.name}`, state] as const);
const finished = states.filter(([, { held }]) => !held.unfinished);
const unfinished = states.filter(([, { held }]) => held.unfinished);
/** Whether the state lacks inputs, as after an import. The first `up` records them by an update. */
const isUnclaimed = ({ held }: Recorded) => !("flavorId" in held.inputs);

/** The outputs after the next refresh: what the version did not know, or wrote as null, is what an import shows of it now. */
function refreshed(outputs: PropertyMap, imported: PropertyMap): PropertyMap {
  const isOfImports = (name: string) => name.startsWith("__") || isScript(name as InputName);
  const shown = Object.entries(imported).filter(
    ([name]) => outputs["__read"] || !isOfImports(name),
  );
  const known = Object.entries(outputs).filter(([, value]) => value !== null);
  return Object.fromEntries([...shown, ...known]);
}

test("there is a recorded state of every kind", () => {
  const names = states.map(([name]) => name);
  for (const name of ["every-input", "minimum", "imported", "imported-and-claimed", "unfinished"])
    expect(names).toContain(`0.1.0, ${name}`);
});

for (const [name, state] of states)
  test(`${name}: a Diff with the same program replaces nothing`, async () => {
    await withState(state, async (world, local) => {
      const { client } = await world.plugin();
      const { id, inputs: oldInputs, outputs: oldOutputs } = world.stack.held();
      const urn = urnOf("web");
      const { inputs: news, failures } = await client.check({
        urn,
        olds: oldInputs,
        news: properties(local.program),
      });
      expect(failures).toEqual([]);
      const diff = await client.diff({ urn, id, oldInputs, oldOutputs, news });
      expect(diff.replacesList).toEqual([]);
      const { DIFF_NONE, DIFF_SOME } = DiffResponse.DiffChanges;
      expect(diff.changes).toBe(isUnclaimed(local) ? DIFF_SOME : DIFF_NONE);
    });
  });

for (const [name, state] of finished)
  test(`${name}: refresh keeps the state, and up replaces nothing`, async () => {
    await withState(state, async (world, local) => {
      const before = world.stack.held();
      const plugin = await world.plugin();
      const imported = await plugin.client.read({ urn: urnOf("web"), id: before.id });
      expect((await world.stack.refresh(plugin)).did).toEqual(["read web"]);
      // `__accepted` is gone, because the settling time after the create is over.
      const { outputs, ...rest } = lasting(before);
      expect(world.stack.held()).toEqual({
        ...rest,
        outputs: refreshed(outputs, imported?.outputs ?? {}),
      });
      const program = { web: properties(local.program) };
      const did = isUnclaimed(local) ? "update web" : "same web";
      expect((await world.stack.up(plugin, program)).did).toEqual([did]);
      expect((await world.stack.up(await world.plugin(), program)).did).toEqual(["same web"]);
    });
  });

for (const [name, state] of unfinished)
  test(`${name}: refresh keeps the instance unfinished, and up finishes it`, async () => {
    await withState(state, async (world, local) => {
      const before = world.stack.held();
      const { failure } = await world.stack.refresh(await world.plugin());
      expect(failure.unfinished).toMatchObject({ id: before.id, inputs: before.inputs });
      expect(world.stack.held().outputs["status"]).toBe("PROVISIONING");

      const running = world.stack.up(await world.plugin(), { web: properties(local.program) });
      world.service.control.setStatus(before.id, "ACTIVE");
      expect((await running).failed).toEqual({});
      expect(world.stack.held()).toMatchObject({ initErrors: [], outputs: { status: "ACTIVE" } });
      expect(Object.keys(world.stack.held().outputs)).not.toContain("__unfinished");
    });
  });

for (const [name, state] of finished)
  test(`${name}: a Read of an instance that the service does not have returns nothing`, async () => {
    await withWorld({}, async (world) => {
      const local = placed(state, world.service.url);
      const held = {
        inputs: properties(local.held.inputs),
        outputs: properties(local.held.outputs),
      };
      const { client } = await world.plugin();
      expect(await client.read({ urn: urnOf("web"), id: local.held.id, ...held })).toBeUndefined();
    });
  });
