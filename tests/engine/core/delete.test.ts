/** Tests that delete tells the truth, because the service documents no destroy call (G4). */
import { expect, test } from "@jest/globals";
import { testUnless } from "../../../tools/support/unless";
import { Fixture } from "../support/fixture";
import { instances } from "../support/programs";
import { isOldest, tokens } from "../support/stack";

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

testUnless(
  isOldest ? "the oldest engine shows no message that comes after its last call" : undefined,
  "a destroy of many instances ends with one list of those that go on running and are billed, and without the advice for recorded settings",
  async () => {
    const names = Array.from({ length: 12 }, (_, index) => `web-${index}`);
    const program = instances(Object.fromEntries(names.map((name) => [name, {}])));
    await using fixture = await Fixture.create({
      token: tokens.live,
      program,
      config: { deletePolicy: "retain" },
    });
    const { stack, control } = fixture;
    await stack.up();

    const output = await stack.destroy();

    expect(await stack.resources()).toEqual([]);
    // The CLI prints each message when it comes, and once more at the end.
    const [, atEnd = ""] = output.split("Diagnostics:");
    expect(atEnd.match(/warning:/g)).toHaveLength(1);
    const [, list = ""] = atEnd.split("They go on running, and are billed");
    for (const { id } of control.instances()) expect(list).toContain(`- ${id} (web-`);
    expect(output).not.toContain("This run used the settings");
  },
);

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
