/**
 * Tests the import of existing servers, which are never replaced for inputs that the list lacks (G5: a change is shown
 * before it happens).
 */
import { expect, test } from "@jest/globals";
import schema from "../../../schema.json";
import { printedCommands } from "../../support/printed";
import { Fixture } from "../support/fixture";
import { emptyProgram, instances, oneInstance, userData, type Inputs } from "../support/programs";
import { isOldest, writeNulls } from "../support/stack";

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
      `flavorId, imageId, vpcId, sshKeys, userData of instance ${found.id} can't be read`,
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

  for (const name of empty) expect(refused).toContain(`In the program, set ${name} to the value`);
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
    `Give the id of the instance with this name: ${found.id}.`,
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

const twoResources = /of this stack.* two resources manage one server/;
/** Types the command of a warning about two resources that takes the resource `dropped` out. It leaves the server running. */
async function takeOut(fixture: Fixture, output: string, dropped: string): Promise<void> {
  const ids = fixture.ids();
  const [command = ""] = printedCommands(output, `::${dropped} --force`);
  await fixture.stack.type(command);
  expect(fixture.ids()).toEqual(ids);
}

test("an import of an instance that a resource of the stack was created with warns, and its printed command mends the stack", async () => {
  await using fixture = await Fixture.create();
  const { stack } = fixture;
  await stack.up();
  const [id = ""] = fixture.ids();
  const second = ["import", "compute:index:Instance", "second", id, "--yes"];

  const imported = await stack.succeed(...second);

  expect(imported).toMatch(twoResources);
  expect((await stack.instances()).map(({ urn }) => urn)).toHaveLength(2);
  await takeOut(fixture, imported, "second");
  expect(await stack.instance()).toMatchObject({ urn: expect.stringMatching(/::web$/), id });
  await stack.expectNothingToDo();

  const option = {
    inputs: { name: (await stack.instance()).inputs?.["name"] },
    options: { import: id },
  };
  stack.program(instances({ web: {}, second: option }));
  expect(await stack.preview()).toMatch(twoResources);
  expect(fixture.posts()).toBe(1);
});

test("two imports of one instance are not noticed at the second, but by the next preview and refresh, whose printed command mends the stack", async () => {
  await using fixture = await begun();
  const { stack } = fixture;
  for (const name of ["web", "second"])
    await stack.succeed("import", "compute:index:Instance", name, found.id, "--yes");
  stack.program(instances({ web: { inputs: claims }, second: { inputs: claims } }));

  const preview = await stack.preview();
  const refresh = await stack.refresh();

  for (const output of [preview, refresh]) expect(output).toMatch(twoResources);
  await takeOut(fixture, preview, "second");
  const { urn } = await stack.instance();
  const kept = urn.slice(urn.lastIndexOf("::") + 2);
  expect(kept).toBe("web");
  stack.program(instances({ [kept]: { inputs: claims, options: { protect: true } } }));
  expect(await stack.up()).not.toMatch(twoResources);
  expect(await stack.refresh()).not.toMatch(twoResources);
  expect(await stack.ids()).toEqual([found.id]);
  expect(fixture.posts()).toBe(0);
});

test("a previewed import, the import, the same import again, an alias and a `.get()` of the instance warn of no second resource", async () => {
  await using fixture = await Fixture.create();
  const { stack } = fixture;
  await stack.up();
  const [id = ""] = fixture.ids();
  await stack.succeed("state", "delete", "--yes", (await stack.instance()).urn);

  const outputs = [
    await stack.succeed(...importing, id, "--preview-only"),
    await stack.succeed(...importing, id, "--yes"),
    await stack.succeed(...importing, id, "--yes"),
  ];
  const name = (await stack.instance()).inputs?.["name"];
  const shown = { type: "compute:Instance", get: { id } };
  const options = { aliases: [{ name: "web" }], protect: true };
  stack.program(instances({ renamed: { inputs: { name }, options } }, { resources: { shown } }));
  outputs.push(await stack.preview("--refresh"), await stack.up("--refresh"));
  outputs.push(await stack.up(), await stack.refresh());

  for (const output of outputs) expect(output).not.toMatch(twoResources);
  expect(new Set(await stack.ids())).toEqual(new Set([id]));
  expect(fixture.posts()).toBe(1);
});
