/**
 * Tests the import of existing servers, which are never replaced for inputs that the list lacks (G5: a change is shown
 * before it happens).
 */
import { expect, test } from "@jest/globals";
import schema from "../../../schema.json";
import { instances, oneInstance, userData, type Inputs } from "../support/programs";
import { isOldest } from "../support/stack";
import { Fixture } from "../support/fixture";

const found = { id: "i-by-hand", name: "web-by-hand" } as const;
const claims = { name: found.name, sshKeys: ["a", "b"], userData };
const emptyProgram = "resources: {}\n";

const outputs = Object.keys(schema.resources["compute:index:Instance"].properties);

/** Returns a program of the instance `web` that exports each of its outputs. */
function exporting(inputs: Inputs, options?: Inputs): string {
  const exported = Object.fromEntries(outputs.map((name) => [name, `\${web.${name}}`]));
  return instances({ web: { inputs, ...(options ? { options } : {}) } }, { outputs: exported });
}

/** Runs a preview, in which no output may be unknown. */
async function previewKnown({ stack }: Fixture): Promise<void> {
  const { code, output } = await stack.preview("--diff");
  expect(output).not.toMatch(/\[unknown\]|output</);
  expect(code).toBe(0);
}

test("after pulumi import, an up with a program that claims the unknown inputs replaces nothing", async () => {
  await using fixture = await Fixture.create({ program: emptyProgram });
  fixture.service.control.insert(found);
  const { stack } = fixture;

  const imported = await stack.run("import", "compute:index:Instance", "web", found.id, "--yes");

  expect(imported.output).not.toContain("bug");
  expect(imported.code).toBe(0);
  expect(await stack.instance()).toMatchObject({
    id: found.id,
    outputs: { name: found.name, status: "ACTIVE", ipv4: expect.any(String), networks: [] },
  });

  stack.program(exporting(claims));
  await previewKnown(fixture);
  const up = await stack.up();
  expect(up.output).toContain(
    `flavorId, imageId, vpcId, sshKeys, userData of the imported instance ${found.id} can't be read`,
  );
  expect(up.output).toMatch(/~ 1 updated/);
  expect(up.code).toBe(0);

  await stack.expectNothingToDo();
  await previewKnown(fixture);
  expect(fixture.posts()).toBe(0);

  // Now that the inputs are claimed, a change of one is a replacement.
  stack.program(oneInstance({ ...claims, flavorId: "premium-8" }, { protect: false }));
  const changed = await stack.preview("--diff");
  expect(changed.output).toMatch(/\+-compute:index:Instance: \(replace\)/);
  expect(changed.output).toMatch(/~ flavorId *: "standard-2" => "premium-8"/);
});

test("the resource option import takes over an instance, and a second up changes nothing", async () => {
  await using fixture = await Fixture.create({
    program: exporting(claims, { import: found.id }),
  });
  fixture.service.control.insert(found);
  const { stack } = fixture;
  await previewKnown(fixture);

  const up = await stack.up();

  expect(up.output).toContain(`of the imported instance ${found.id} can't be read`);
  expect(up.code).toBe(0);
  expect((await stack.instance()).id).toBe(found.id);
  await stack.expectNothingToDo();
  const refreshed = await stack.run("refresh", "--yes", "--expect-no-changes");
  expect(refreshed.code).toBe(0);
  await previewKnown(fixture);
  expect(fixture.posts()).toBe(0);

  stack.program(oneInstance({ ...claims, sshKeys: ["a"] }));
  const changed = await stack.preview("--diff");
  expect(changed.output).toMatch(/\+-compute:index:Instance: \(replace\)/);
});

test("`Instance.get` shows what the list shows, and null for the rest, also in a preview (G10)", async () => {
  await using fixture = await Fixture.create({ program: emptyProgram });
  fixture.service.control.insert(found);
  const { stack } = fixture;
  stack.javascript(`
    const { CustomResource } = require("@pulumi/pulumi");
    const names = ${JSON.stringify(outputs)};
    // The SDK's \`get\` declares the outputs so, too.
    const declared = Object.fromEntries(names.map((name) => [name, undefined]));
    const web = new CustomResource("compute:index:Instance", "web", declared, { id: "${found.id}" });
    for (const name of names) exports[name] = web[name];
  `);
  await previewKnown(fixture);

  await stack.succeed("up", "--yes", "--skip-preview");

  await previewKnown(fixture);
  expect(await stack.outputs()).toMatchObject({
    name: found.name,
    ...{ status: "ACTIVE", ipv4: expect.any(String), networks: [] },
    ...{ flavorId: null, imageId: null, vpcId: null, sshKeys: null },
    ...{ privateIpv4: null, createdAt: null },
  });
});

test("an import with the name of an instance fails, and names the id", async () => {
  await using fixture = await Fixture.create({ program: emptyProgram });
  fixture.service.control.insert(found);
  const { stack } = fixture;

  const imported = await stack.run("import", "compute:index:Instance", "web", found.name, "--yes");

  expect(imported.output).toContain(`Give the id of the instance with this name: ${found.id}.`);
  expect(imported.code).not.toBe(0);
  expect(await stack.instances()).toEqual([]);
});

test("a program with another name for an imported instance is an error, not a replacement", async () => {
  await using fixture = await Fixture.create({
    program: oneInstance({ ...claims, name: "web-other" }, { import: found.id }),
  });
  fixture.service.control.insert(found);

  const { code, output } = await fixture.stack.up();

  expect(output).toMatch(isOldest ? /may not be replaced/ : /name/);
  expect(code).not.toBe(0);
  expect(fixture.ids()).toEqual([found.id]);
  expect(fixture.posts()).toBe(0);
});

test("an instance that is still provisioning is imported, and the next up waits for it", async () => {
  await using fixture = await Fixture.create({ program: emptyProgram });
  fixture.service.control.insert({ ...found, status: "PROVISIONING" });
  const { stack } = fixture;

  const imported = await stack.run("import", "compute:index:Instance", "web", found.id, "--yes");
  expect(imported.code).toBe(0);
  stack.program(oneInstance(claims));
  const up = stack.start("up", "--yes", "--skip-preview");
  await up.printed(`${found.id} PROVISIONING`);
  fixture.service.control.setStatus(found.id, "ACTIVE");

  expect((await up.ended).code).toBe(0);
  expect(await stack.instance()).toMatchObject({ id: found.id, outputs: { status: "ACTIVE" } });
  expect(fixture.posts()).toBe(0);
});
