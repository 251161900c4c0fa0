/**
 * Tests the import of existing servers, which are never replaced for inputs that the list lacks (G5: a change is shown
 * before it happens).
 */
import { expect, test } from "@jest/globals";
import schema from "../../../schema.json";
import { destroyPath, Fixture } from "../support/fixture";
import { emptyProgram, instances, oneInstance, userData, type Inputs } from "../support/programs";
import { isOldest, tokens, writeNulls } from "../support/stack";

const found = { id: "i-by-hand", name: "web-by-hand" } as const;
const claims = { name: found.name, sshKeys: ["a", "b"], userData };
const importing = ["import", "compute:index:Instance", "web"];
const outputs = Object.keys(schema.resources["compute:index:Instance"].properties);

/** Returns a program of the instance `web` that exports each of its outputs. */
function exporting(options: Inputs): string {
  const exported = Object.fromEntries(outputs.map((name) => [name, `\${web.${name}}`]));
  return instances({ web: { inputs: claims, options } }, { outputs: exported });
}

async function begun(program = emptyProgram, status = "ACTIVE"): Promise<Fixture> {
  const fixture = await Fixture.create({ program });
  fixture.control.insert({ ...found, status });
  return fixture;
}

/** Runs a preview, in which no output may be unknown. */
async function previewKnown({ stack }: Fixture): Promise<void> {
  expect(await stack.preview("--diff")).not.toMatch(/\[unknown\]|output</);
}

test.each(["pulumi import", "the resource option import"])(
  "after %s, an up with a program that claims the unknown inputs replaces nothing",
  async (how) => {
    const isOption = how !== "pulumi import";
    await using fixture = await begun(isOption ? exporting({ import: found.id }) : emptyProgram);
    const { stack } = fixture;
    if (!isOption) {
      expect(await stack.succeed(...importing, found.id, "--yes")).not.toContain("bug");
      expect(await stack.instance()).toMatchObject({
        id: found.id,
        outputs: { name: found.name, status: "ACTIVE", ipv4: expect.any(String), networks: [] },
      });
      stack.program(exporting({}));
    }
    await previewKnown(fixture);

    const up = await stack.up();

    expect(up).toContain(
      "the state records flavorId, imageId, vpcId, sshKeys, userData as the program says",
    );
    expect((await stack.instance()).id).toBe(found.id);
    await stack.expectNothingToDo();
    await stack.refresh("--expect-no-changes");
    await previewKnown(fixture);
    expect(fixture.posts()).toBe(0);

    stack.program(oneInstance({ ...claims, flavorId: "premium-8" }, { protect: false }));
    const changed = await stack.preview("--diff");
    expect(changed).toMatch(/\+-compute:index:Instance: \(replace\)/);
    expect(changed).toMatch(/~ flavorId *: "standard-2" => "premium-8"/);
  },
);

test("of a state that was written with null for required outputs, nothing is replaced or unknown, and a refresh makes them empty without a change (G5, G10)", async () => {
  await using fixture = await begun();
  const { stack } = fixture;
  await stack.succeed(...importing, found.id, "--yes");
  stack.program(exporting({}));
  const { required } = schema.resources["compute:index:Instance"];

  writeNulls(stack, required);
  await previewKnown(fixture);
  expect(await stack.up()).toMatch(/~ 1 updated/);

  writeNulls(stack, required);
  await stack.expectNothingToDo();
  await previewKnown(fixture);
  await stack.refresh("--expect-no-changes");
  await stack.expectNothingToDo();
  expect(await stack.outputs()).toMatchObject({ privateIpv4: "", createdAt: null });
  expect((await stack.instance()).outputs).toMatchObject({ privateIpv4: "", createdAt: null });
  expect(fixture.posts()).toBe(0);
});

test("after an import, an up with the code that `pulumi import` prints says what to fill in, and changes nothing", async () => {
  await using fixture = await begun();
  const { stack } = fixture;
  const printed = await stack.succeed(...importing, found.id, "--yes");
  const empty = ["flavorId", "imageId", "vpcId"].filter((name) => printed.includes(`${name}: ""`));
  expect(empty).toEqual(["flavorId", "imageId", "vpcId"]);
  const code = { name: found.name, ...Object.fromEntries(empty.map((name) => [name, ""])) };
  stack.program(oneInstance(code, { protect: true }));

  const refused = await stack.fail("up");

  expect(refused).toContain(`${empty.join(", ")} are empty, because an import can't read them`);
  expect((await stack.instance()).id).toBe(found.id);
  stack.program(oneInstance(claims, { protect: true }));
  await stack.up();
  expect(fixture.posts()).toBe(0);
});

test("`Instance.get` shows what the list shows, and the rest is empty or null, also in a preview (G10)", async () => {
  await using fixture = await begun();
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

  await stack.up();

  await previewKnown(fixture);
  expect(await stack.outputs()).toMatchObject({
    name: found.name,
    status: "ACTIVE",
    ipv4: expect.any(String),
    networks: [],
    flavorId: "",
    imageId: "",
    vpcId: "",
    sshKeys: null,
    privateIpv4: "",
    createdAt: null,
  });
});

test("a program with another name for an imported instance is an error, not a replacement", async () => {
  await using fixture = await begun(
    oneInstance({ ...claims, name: "web-other" }, { import: found.id }),
  );

  expect(await fixture.stack.fail("up")).toMatch(isOldest ? /may not be replaced/ : /name/);

  expect(fixture.ids()).toEqual([found.id]);
  expect(fixture.posts()).toBe(0);
});

test("an import by name fails and names the id. By id an instance that is PROVISIONING is imported, and the next up waits for it", async () => {
  await using fixture = await begun(emptyProgram, "PROVISIONING");
  const { stack, control } = fixture;

  expect(await stack.fail(...importing, found.name, "--yes")).toContain(
    `Give the id itself: ${found.id}.`,
  );
  expect(await stack.instances()).toEqual([]);

  await stack.succeed(...importing, found.id, "--yes");
  stack.program(oneInstance(claims));
  const up = await fixture.upInWait();
  control.setStatus(found.id, "ACTIVE");
  await up.succeeded();
  expect(await stack.instance()).toMatchObject({ id: found.id, outputs: { status: "ACTIVE" } });
  expect(fixture.posts()).toBe(0);
});

/** Imports the server as each of these resources. `program` has them with this flavor. */
async function importedAs(names: readonly string[]) {
  const program = (flavors: Readonly<Record<string, string>>) =>
    instances(
      Object.fromEntries(
        Object.entries(flavors).map(([name, flavorId]) => [
          name,
          { inputs: { ...claims, flavorId } },
        ]),
      ),
    );
  const fixture = await Fixture.create({
    token: tokens.live,
    program: emptyProgram,
    config: { destroyPath },
    service: { destroyPath },
  });
  const { stack, control } = fixture;
  control.insert({ ...found, status: "ACTIVE", tokenKind: "live" });
  for (const name of names)
    await stack.succeed("import", "compute:index:Instance", name, found.id, "--yes");
  stack.program(program(Object.fromEntries(names.map((name) => [name, "standard-2"]))));
  await stack.up();
  return { fixture, program };
}

test("a server that two resources were imported as is not destroyed when one of them leaves the program", async () => {
  const { fixture, program } = await importedAs(["one", "two"]);
  await using _closed = fixture;
  const { stack, control } = fixture;

  stack.program(program({ one: "standard-2" }));
  const up = await stack.up();

  expect(up).toContain(
    `two was dropped from the state, but its instance ${found.id} was not destroyed: one of this program manages it, too`,
  );
  expect(await stack.ids()).toEqual([found.id]);
  await stack.expectNothingToDo();
  expect(control.counts()[`DELETE ${destroyPath}`]).toBeUndefined();
});

test("a server that two resources were imported as is destroyed when both are replaced", async () => {
  const { fixture, program } = await importedAs(["one", "two"]);
  await using _closed = fixture;
  const { stack } = fixture;

  stack.program(program({ one: "standard-8", two: "standard-8" }));
  await stack.up();

  expect(await stack.ids()).toEqual(fixture.ids().sort());
  expect(fixture.ids()).not.toContain(found.id);
  expect(fixture.ids()).toHaveLength(2);
});

test("an import under a new name, with the old one taken out of the program, keeps the server", async () => {
  const { fixture } = await importedAs(["one"]);
  await using _closed = fixture;
  const { stack } = fixture;

  const renamed = { inputs: claims, options: { import: found.id } };
  stack.program(instances({ renamed }));
  await stack.up();

  expect(fixture.ids()).toEqual([found.id]);
  expect((await stack.instance()).urn).toMatch(/::renamed$/);
});

test("a resource that an alias renames, and that is replaced in the same run, has its old server destroyed", async () => {
  const config = { destroyPath, deletePolicy: "destroy" };
  await using fixture = await Fixture.create({ config, service: { destroyPath } });
  const { stack } = fixture;
  for (const [name, alias, deleteBeforeReplace] of [
    ["first", "web", false],
    ["second", "first", true],
  ] as const) {
    await stack.up();
    const before = fixture.ids();
    const options = { aliases: [{ name: alias }], deleteBeforeReplace };
    stack.program(instances({ [name]: { inputs: { flavorId: name }, options } }));
    await stack.up("--refresh");
    expect(fixture.ids()).toHaveLength(1);
    expect(fixture.ids()).not.toEqual(before);
    expect(await stack.ids()).toEqual(fixture.ids());
  }
});
