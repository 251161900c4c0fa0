/**
 * Runs the example of each language, and the program that `pulumi import` writes, through the real language host. The
 * SDK is installed from a package, as a user does it.
 */
import { expect } from "@jest/globals";
import { testUnless } from "../../tools/support/unless";
import { guests, hindrance, installed } from "./support/installing";
import { Fixture } from "./support/fixture";
import { required } from "./support/programs";
import { isOldest, plugin } from "./support/stack";

// The first run spends most of its time on downloads.
for (const [name, language] of Object.entries(guests)) {
  const title = `the ${name} example is previewed, brought up with its outputs, unchanged by a second up, refreshed and destroyed`;
  testUnless(hindrance(language), title, async () => {
    const { project, env } = await installed(language);
    await using fixture = await Fixture.create({ program: project, env });
    const { stack, service } = fixture;

    const yes = ["--yes", "--skip-preview"];

    const preview = await stack.succeed("preview");
    expect(preview).toMatch(/\+ 3 to create/); // two instances, and the stack
    expect(fixture.posts()).toBe(0);

    const up = await stack.succeed("up", ...yes);
    expect(up).toContain("PROVISIONING");
    const records = service.control.instances();
    expect(records).toHaveLength(2);
    const outputs = await stack.outputs();
    const [names, addresses] = [outputs["names"], outputs["ipv4"]] as string[][];
    expect(names?.toSorted()).toEqual(records.map(({ name }) => name).toSorted());
    expect(addresses?.toSorted()).toEqual(records.map(({ ipv4_public }) => ipv4_public).toSorted());
    expect(outputs["networks"]).toEqual(
      Array.from({ length: 2 }, () => [expect.objectContaining({ type: "private" })]),
    );
    // The script of the servers, which contains this word, is a secret input.
    expect(JSON.stringify(await stack.resources())).not.toContain("nginx");

    await stack.succeed("up", ...yes, "--expect-no-changes");
    await stack.succeed("refresh", ...yes, "--expect-no-changes");
    await stack.succeed("destroy", ...yes);
    expect(await stack.resources()).toEqual([]);
    expect(fixture.posts()).toBe(2);
  });
}

/** The file of the program in each example. For YAML, importPlan.test.ts shows the same. */
const programFiles = { TypeScript: "index.ts", Python: "__main__.py", Go: "main.go" } as const;

for (const [name, file] of Object.entries(programFiles)) {
  const language = guests[name as keyof typeof programFiles];
  const reason = isOldest
    ? "the oldest engine ignores the inputs of the file"
    : hindrance(language);
  const title = `the ${name} program that \`pulumi import\` writes is complete, and up replaces nothing`;
  testUnless(reason, title, async () => {
    const { project, env } = await installed(language);
    await using fixture = await Fixture.create({ program: project, env });
    const { stack, service } = fixture;
    service.control.insert({ id: "i-1", name: "web-1" });
    service.control.insert({ id: "i-2", name: 'büro $(id) "1"' });

    const inputs = { ...required, sshKeys: "key-1" };
    const options = Object.entries(inputs).map(([key, value]) => `--input ${key}=${String(value)}`);
    const plan = `'${plugin}' import-plan --stack dev --out plan.json ${options.join(" ")}`;
    expect((await stack.type(plan)).output).toContain("2 instances are in the plan");
    const imported = await stack.type(`pulumi import --file plan.json --stack dev --out ${file}`);
    expect(imported.output).toMatch(/= 2 imported/);
    expect(imported.code).toBe(0);

    expect(await stack.succeed("up", "--yes", "--skip-preview")).toMatch(/~ 2 updated/);
    await stack.expectNothingToDo();
    for (const { inputs: held } of await stack.instances()) {
      expect(held).toMatchObject({ ...required, sshKeys: ["key-1"] });
    }
    expect(fixture.posts()).toBe(0);
  });
}
