/** Tests that delete tells the truth, because the service documents no destroy call (G4). */
import { expect, test } from "@jest/globals";
import { Fixture } from "../support/fixture";
import { tokens } from "../support/stack";

const destroyPath = "/v2/instances/{id}";

test("destroy of a live instance fails, keeps it in the state, and names the ways out", async () => {
  await using fixture = await Fixture.create({ token: tokens.live });
  const { stack } = fixture;
  await stack.up();
  const [id = ""] = fixture.ids();

  const output = await stack.fail("destroy");

  for (const said of [
    `instance ${id} still exists and is billed`,
    "remove it at the service",
    "pulumi config set compute:deletePolicy retain",
    "retainOnDelete",
    "pulumi state delete urn:pulumi:dev::proj::compute:index:Instance::web",
    "pulumi config set compute:destroyPath",
  ])
    expect(output).toContain(said);
  expect((await stack.instance()).id).toBe(id);

  fixture.control.remove(id);
  await stack.destroy();
  expect(await stack.resources()).toEqual([]);
});

test("with a destroy call configured, destroy ends when the instance is gone", async () => {
  await using fixture = await Fixture.create({
    token: tokens.live,
    config: { destroyPath },
    service: { destroyPath, destroySeconds: 1 },
  });
  await fixture.stack.up();
  const [id] = fixture.ids();

  expect(await fixture.stack.destroy()).not.toContain("warning: instance");

  expect(fixture.service.counts()[`DELETE /v2/instances/${id}`]).toBe(1);
  expect(fixture.ids()).toEqual([]);
  expect(await fixture.stack.resources()).toEqual([]);
});
