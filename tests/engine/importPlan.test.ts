/**
 * Tests that import-plan and `pulumi import` take over existing servers, of which none is replaced (G5: a change is
 * shown before it happens).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { testUnless } from "../../tools/support/unless";
import { instances, required } from "./support/programs";
import { isOldest, plugin } from "./support/stack";
import { Fixture } from "./support/fixture";

test("a hundred servers are imported with a plan, and the program that `pulumi import` writes replaces none of them", async () => {
  await using fixture = await Fixture.create({
    program: "resources: {}\n",
    service: { cursorParameter: "after" },
    config: { cursorParameter: "after" },
  });
  const { stack, service } = fixture;
  for (let n = 0; n < 98; n++) service.control.insert({ id: `i-${n}`, name: `web-${n}` });
  // These names can't be resource names as they are: the first exists twice, the second has special characters.
  service.control.insert({ id: "i-twin", name: "web-7" });
  service.control.insert({ id: "i-odd", name: "büro $(id) 1" });

  const planned = await stack.type(`'${plugin}' import-plan --stack dev --out plan.json`);
  const next = "pulumi import --file plan.json --stack dev";
  expect(planned.output).toBe(
    `The settings come from stack organization/proj/dev.\n100 instances are in the plan. Next: ${next}\n`,
  );
  expect(planned.code).toBe(0);
  const imported = await stack.type(`${next} --yes --skip-preview --out written.yaml`);
  expect(imported.output).toMatch(/= 100 imported/);
  expect(imported.code).toBe(0);

  // A person fills in the inputs that the service does not return.
  const written = readFileSync(join(stack.project, "written.yaml"), "utf8");
  const filled = written.replaceAll(
    /^( +)(flavorId|imageId|vpcId): ""$/gm,
    (_, indent: string, name: string) => `${indent}${name}: ${String(required[name])}`,
  );
  expect(filled).not.toContain('""');
  stack.program(filled);
  const up = await stack.up();
  expect(up.output).toMatch(/~ 100 updated/);
  expect(up.output).not.toMatch(/replace/);
  expect(up.code).toBe(0);
  await stack.expectNothingToDo();
  expect(fixture.posts()).toBe(0);
  const held = new Map((await stack.instances()).map(({ urn, id = "" }) => [id, urn]));
  expect([...held.keys()].sort()).toEqual(fixture.ids().sort());
  expect(held.get("i-7")).toMatch(/::web-7$/);
  expect(held.get("i-twin")).toMatch(/::web-7-i-twin$/);

  // Instances that a stack of the backend manages are not planned again. This stack is selected.
  service.control.insert({ id: "i-late", name: "web-0" });
  const again = await stack.type(`'${plugin}' import-plan`);
  expect(again.output).toContain('"name": "web-0-i-late"');
  expect(again.output).toContain("100 instances managed by stack organization/proj/dev: i-");
  expect(again.output).toContain("1 instance is in the plan. Next: pulumi import --file FILE\n");
  await stack.succeed("stack", "init", "other");
  const other = await stack.type(`'${plugin}' import-plan --base-url ${service.url}`);
  expect(other.output).toContain("since stack organization/proj/other has no setting of compute");
  expect(other.output).toContain("100 instances managed by stack organization/proj/dev: i-");
});

testUnless(
  isOldest ? "the oldest engine ignores the inputs of the file" : undefined,
  "--input: the program that Pulumi writes is complete, and up replaces nothing",
  async () => {
    await using fixture = await Fixture.create({ program: "resources: {}\n" });
    const { stack, service } = fixture;
    service.control.insert({ id: "i-1", name: "web" });
    service.control.insert({ id: "i-2", name: "db" });
    const inputs = { ...required, sshKeys: "key-1" };
    const options = Object.entries(inputs).map(
      ([name, value]) => `--input ${name}=${String(value)}`,
    );
    const planned = await stack.type(
      `'${plugin}' import-plan --stack dev --out plan.json ${options.join(" ")}`,
    );
    expect(planned.code).toBe(0);
    const importing = "pulumi import --file plan.json --yes --skip-preview --out written.yaml";
    const imported = await stack.type(importing);
    expect(imported.output).toMatch(/= 2 imported/);
    expect(imported.output).not.toMatch(/warning/);

    const written = readFileSync(join(stack.project, "written.yaml"), "utf8");
    stack.program(`${written}\noutputs:\n  flavor: \${web.flavorId}\n`);
    const up = await stack.up();
    expect(up.output).toMatch(/~ 2 updated/);
    expect(up.output).toContain("so the state records what the program says, unchecked");
    expect(up.code).toBe(0);
    expect(await stack.outputs()).toEqual({ flavor: required["flavorId"] });
    await stack.expectNothingToDo();
    for (const { inputs: held } of await stack.instances()) {
      expect(held).toMatchObject({ ...required, sshKeys: ["key-1"] });
    }
    expect(fixture.posts()).toBe(0);

    // From then on, a change is a change.
    stack.program(instances({ web: { inputs: { name: "web", flavorId: "other" } } }));
    expect((await stack.preview("--diff")).output).toMatch(/~ flavorId *: "standard-2" => "other"/);
  },
);

test("with --parent and --provider, the instances become children of a component and use an explicit provider", async () => {
  await using fixture = await Fixture.create({ program: "resources: {}\n" });
  const { stack, service } = fixture;
  service.control.insert({ id: "i-1", name: "web" });
  const program = (instance: string) => `
    const pulumi = require("@pulumi/pulumi");
    const compute = require("pulumi-compute-instances");
    const own = new compute.Provider("own", {
      baseUrl: ${JSON.stringify(service.url)}, pollIntervalSeconds: 0.2,
    });
    const fleet = new pulumi.ComponentResource("team:index:Fleet", "fleet");
    ${instance}`;
  stack.javascript(program(""));
  await stack.succeed("up", "--yes", "--skip-preview");
  const urns = (await stack.resources()).map(({ urn }) => urn);
  const urnOf = (name: string) => urns.find((urn) => urn.endsWith(`::${name}`)) ?? "";

  // In the state, the id of the provider resource follows its URN. `pulumi import` does not take that form.
  const [{ id: ownId } = {}] = (await stack.resources()).filter(({ urn }) => urn === urnOf("own"));
  const options = `--parent '${urnOf("fleet")}' --provider '${urnOf("own")}::${ownId}'`;
  const planned = await stack.type(
    `'${plugin}' import-plan --stack dev --out plan.json ${options}`,
  );
  expect(planned.output).toContain("1 instance is in the plan.");
  const imported = await stack.type("pulumi import --file plan.json --yes --skip-preview");
  expect(imported.output).toContain("1 imported");
  expect(imported.output).toMatch(/parent: parent,\s+protect: true,\s+provider: provider,/);
  const inputs = JSON.stringify({ ...required, name: "web" });
  stack.javascript(
    program(
      `new compute.Instance("web", ${inputs}, { parent: fleet, provider: own, protect: true });`,
    ),
  );
  const up = await stack.up();
  expect(up.output).toMatch(/~ 1 updated/);
  expect(up.code).toBe(0);
  expect(fixture.posts()).toBe(0);
});
