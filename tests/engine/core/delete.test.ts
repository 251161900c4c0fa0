/** Delete tells the truth: the service documents no destroy call (G4). */
import { expect, test } from "@jest/globals";
import { oneInstance } from "../support/programs";
import { tokens } from "../support/stack";
import { World } from "../support/world";

const program = oneInstance();
const destroyPath = "/v2/instances/{id}";

test("a live instance is not forgotten: destroy fails, names it and the ways out", async () => {
  await using world = await World.create({ program, token: tokens.live });
  await world.stack.up();
  const [id = ""] = world.ids();

  const { code, output } = await world.stack.destroy();

  expect(output).toContain(`instance ${id} still exists and is billed`);
  for (const wayOut of [
    "remove it at the service",
    "pulumi config set compute:deletePolicy retain",
    "retainOnDelete",
    "pulumi state delete urn:pulumi:dev::proj::compute:index:Instance::web",
    "pulumi config set compute:destroyPath",
  ])
    expect(output).toContain(wayOut);
  expect(code).not.toBe(0);
  expect((await world.stack.instance()).id).toBe(id);

  world.service.control.remove(id);
  expect((await world.stack.destroy()).code).toBe(0);
  expect(await world.stack.resources()).toEqual([]);
});

test("a sandbox instance is dropped from the state with a warning, since it is ephemeral", async () => {
  await using world = await World.create({ program });
  await world.stack.up();
  const [id] = world.ids();

  const { code, output } = await world.stack.destroy();

  expect(output).toContain(`warning: instance ${id} is dropped from the state, not destroyed`);
  expect(output).toContain("until its sandbox lifetime is over");
  expect(code).toBe(0);
  expect(await world.stack.resources()).toEqual([]);
  expect(world.ids()).toEqual([id]);
});

test("with a destroy call, destroy ends once the instance is gone", async () => {
  await using world = await World.create({
    ...{ program, token: tokens.live, config: { destroyPath } },
    service: { destroyPath, destroySeconds: 1 },
  });
  await world.stack.up();
  const [id] = world.ids();

  const { code, output } = await world.stack.destroy();

  expect(output).not.toContain("warning: instance");
  expect(code).toBe(0);
  expect(world.service.counts()[`DELETE /v2/instances/${id}`]).toBe(1);
  expect(world.ids()).toEqual([]);
  expect(await world.stack.resources()).toEqual([]);
});
