/**
 * Tests that `audit --plan` and `pulumi import` take over existing servers, of which none is replaced (G5: a change is
 * shown before it happens). languages.test.ts tests the programs that `pulumi import` writes in other languages.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { testUnless } from "../../tools/support/unless";
import { Fixture } from "./support/fixture";
import { emptyProgram, instances, required } from "./support/programs";
import { isOldest, plugin } from "./support/stack";

const audit = `'${plugin}' audit`;

test("a hundred servers are imported with a plan, and the program that `pulumi import` writes replaces none of them", async () => {
  const cursorParameter = "after";
  await using fixture = await Fixture.create({
    program: emptyProgram,
    service: { cursorParameter },
    config: { cursorParameter },
  });
  const { stack, service, control } = fixture;
  for (let n = 0; n < 98; n++) control.insert({ id: `i-${n}`, name: `web-${n}` });
  // These names can't be resource names as they are: the first exists twice, the second has special characters.
  control.insert({ id: "i-twin", name: "web-7" });
  control.insert({ id: "i-odd", name: "büro $(id) 1" });

  const next = "pulumi import --file plan.json --stack dev";
  const planned = await stack.type(`${audit} --stack dev --plan plan.json`);
  expect(planned).toContain(`100 instances in the plan. Next: ${next}\n`);
  const imported = await stack.type(`${next} --yes --skip-preview --out written.yaml`);
  expect(imported).toMatch(/= 100 imported/);

  const written = readFileSync(join(stack.project, "written.yaml"), "utf8");
  const filled = written.replaceAll(
    /^( +)(flavorId|imageId|vpcId): ""$/gm,
    (_, indent: string, name: string) => `${indent}${name}: ${String(required[name])}`,
  );
  expect(filled).not.toContain('""');
  stack.program(filled);
  const up = await stack.up();
  expect(up).toMatch(/~ 100 updated/);
  expect(up).not.toMatch(/replace/);
  await stack.expectNothingToDo();
  expect(fixture.posts()).toBe(0);
  const held = new Map((await stack.instances()).map(({ urn, id = "" }) => [id, urn]));
  expect([...held.keys()].sort()).toEqual(fixture.ids().sort());
  expect(held.get("i-7")).toMatch(/::web-7$/);
  expect(held.get("i-twin")).toMatch(/::web-7-i-twin$/);

  // Instances that another stack of the backend manages are not planned again.
  control.insert({ id: "i-late", name: "web-0" });
  await stack.succeed("stack", "init", "other");
  const options = `--base-url ${service.url} --cursor-parameter ${cursorParameter}`;
  const other = await stack.type(`${audit} --plan other.json ${options}`);
  expect(other).toContain("(test token; --base-url, COMPUTE_API_TOKEN): ");
  expect(other).toContain("1 instance in the plan. Next: pulumi import --file other.json\n");
});

testUnless(
  isOldest ? "the oldest engine ignores the inputs of the file" : undefined,
  "--input: the program that Pulumi writes is complete, and up replaces nothing",
  async () => {
    await using fixture = await Fixture.create({ program: emptyProgram });
    const { stack, control } = fixture;
    control.insert({ id: "i-1", name: "web" });
    control.insert({ id: "i-2", name: "db" });
    const inputs = Object.entries({ ...required, sshKeys: "key-1" });
    const options = inputs.map(([name, value]) => `--input ${name}=${String(value)}`).join(" ");
    await stack.type(`${audit} --stack dev --plan plan.json ${options}`);
    const imported = await stack.type(
      "pulumi import --file plan.json --yes --skip-preview --out written.yaml",
    );
    expect(imported).toMatch(/= 2 imported/);
    expect(imported).not.toMatch(/warning/);

    const written = readFileSync(join(stack.project, "written.yaml"), "utf8");
    stack.program(`${written}\noutputs:\n  flavor: \${web.flavorId}\n`);
    const up = await stack.up();
    expect(up).toMatch(/~ 2 updated/);
    expect(up).toMatch(
      /1 more instance, as for \S+: the state records .* as the program says, unchecked/,
    );
    expect(await stack.outputs()).toEqual({ flavor: required["flavorId"] });
    await stack.expectNothingToDo();
    for (const { inputs: held } of await stack.instances()) {
      expect(held).toMatchObject({ ...required, sshKeys: ["key-1"] });
    }
    expect(fixture.posts()).toBe(0);

    // From then on, a change is a change. The preview fails, because the program lacks the protected db.
    stack.program(instances({ web: { inputs: { name: "web", flavorId: "other" } } }));
    expect(await stack.fail("preview", "--diff")).toMatch(/~ flavorId *: "standard-2" => "other"/);
  },
);
