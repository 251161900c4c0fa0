/** Tests that delete tells the truth, because the service documents no destroy call (G4). */
import { expect, test } from "@jest/globals";
import { oneInstance } from "../support/programs";
import { tokens } from "../support/stack";
import { Fixture } from "../support/fixture";

const program = oneInstance();
const destroyPath = "/v2/instances/{id}";

test("destroy of a live instance fails, keeps it in the state, and names the ways out", async () => {
  await using fixture = await Fixture.create({ program, token: tokens.live });
  await fixture.stack.up();
  const [id = ""] = fixture.ids();

  const { code, output } = await fixture.stack.destroy();

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
  expect((await fixture.stack.instance()).id).toBe(id);

  fixture.service.control.remove(id);
  expect((await fixture.stack.destroy()).code).toBe(0);
  expect(await fixture.stack.resources()).toEqual([]);
});

test("with a destroy call configured, destroy ends when the instance is gone", async () => {
  await using fixture = await Fixture.create({
    ...{ program, token: tokens.live, config: { destroyPath } },
    service: { destroyPath, destroySeconds: 1 },
  });
  await fixture.stack.up();
  const [id] = fixture.ids();

  const { code, output } = await fixture.stack.destroy();

  expect(output).not.toContain("warning: instance");
  expect(code).toBe(0);
  expect(fixture.service.counts()[`DELETE /v2/instances/${id}`]).toBe(1);
  expect(fixture.ids()).toEqual([]);
  expect(await fixture.stack.resources()).toEqual([]);
});
