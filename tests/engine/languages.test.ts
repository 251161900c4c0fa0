/**
 * Types the commands of docs/install.md in an empty folder outside of the repository, for each language: the plugin from
 * its archive, the SDK, the settings, and `pulumi up`. The real language host runs the program. Also runs the program that
 * `pulumi import` writes in each language, and the tests of the examples in Python and Go.
 */
import { globSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { ensureArchive } from "../../tools/dist/archives";
import { thisPlatform } from "../../tools/dist/platforms";
import { commandsIn } from "../../tools/docs/commandLines";
import { captured } from "../../tools/support/command";
import { temporaryFolder } from "../../tools/support/files";
import { root } from "../../tools/support/paths";
import { ensurePythonTools } from "../../tools/support/python";
import { testUnless } from "../../tools/support/unless";
import { filledIn } from "./support/blocks/shell";
import {
  languages,
  missingTools,
  installBlock,
  installed,
  withPlugin,
  WorkingCopy,
  type Language,
} from "./support/installing";
import { Fixture } from "./support/fixture";
import { required } from "./support/programs";
import { isOldest, plugin, tokens } from "./support/stack";

/** The commands that install the plugin of this platform. The archive exists already. */
async function pluginInstallation(): Promise<string> {
  await ensureArchive();
  const [, install = ""] = installBlock("1. The plugin").trim().split("\n");
  return `cd ${root} && ${install.replaceAll("linux-amd64", thisPlatform())}`;
}

for (const [name, language] of Object.entries<Language>(languages)) {
  const title = `in an empty folder, the commands of docs/install.md bring the ${name} example up, unchanged by a second up and a refresh, and destroyed`;
  testUnless(missingTools(language), title, async () => {
    const { project, env } = await installed(language);
    const bare = { baseUrl: undefined, token: null, namesPlugin: false };
    await using fixture = await Fixture.create({ program: project, env, ...bare });
    const { stack, service } = fixture;
    await stack.succeed("stack", "rm", "--yes", "dev");
    stack.setEnv("ASKED_FOR", tokens.test);

    const servers = commandsIn(installBlock("3. The servers")).map(({ text }) => text);
    expect(servers.pop()).toBe("pulumi up");
    const settings = servers.map((line) => filledIn(line, service.url));
    const script = ["set -e", `(${await pluginInstallation()})`, ...settings, "pulumi preview"];
    // Two instances, and the stack.
    expect(await stack.type(script.join("\n"))).toMatch(/\+ 3 to create/);
    expect(fixture.posts()).toBe(0);
    await stack.configure({ pollIntervalSeconds: "0.2", settlingSeconds: "1" });

    expect(await stack.up()).toContain("3 created");
    const records = fixture.control.instances();
    expect(records).toHaveLength(2);
    const outputs = await stack.outputs();
    const [names, addresses] = [outputs["names"], outputs["ipv4"]] as string[][];
    expect(names?.toSorted()).toEqual(records.map(({ name }) => name).toSorted());
    expect(addresses?.toSorted()).toEqual(records.map(({ ipv4_public }) => ipv4_public).toSorted());
    // The script of the servers, which contains this word, is a secret input.
    expect(JSON.stringify(await stack.resources())).not.toContain("nginx");

    await stack.expectNothingToDo();
    await stack.refresh("--expect-no-changes");
    await stack.destroy();
    expect(await stack.resources()).toEqual([]);
    expect(fixture.posts()).toBe(2);
    // The plugin has over 100 MB, which the search for secrets can skip: it was made before the test.
    rmSync(join(stack.home, "plugins"), { recursive: true, force: true });
  });
}

/** The file of the program in each example. For YAML, importPlan.test.ts shows the same. */
const programFiles = { TypeScript: "index.ts", Python: "__main__.py", Go: "main.go" } as const;

for (const [name, file] of Object.entries(programFiles)) {
  const language = languages[name as keyof typeof programFiles];
  const reason = isOldest
    ? "the oldest engine ignores the inputs of the file"
    : missingTools(language);
  const title = `the ${name} program that \`pulumi import\` writes is complete, and up replaces nothing`;
  testUnless(reason, title, async () => {
    const { project, env } = await installed(language);
    await using fixture = await Fixture.create({ program: project, env });
    const { stack, control } = fixture;
    control.insert({ id: "i-1", name: "web-1" });
    control.insert({ id: "i-2", name: 'büro $(id) "1"' });

    const inputs = { ...required, sshKeys: "key-1" };
    const options = Object.entries(inputs).map(([key, value]) => `--input ${key}=${String(value)}`);
    const plan = `'${plugin}' audit --stack dev --plan plan.json ${options.join(" ")}`;
    expect(await stack.type(plan)).toContain("2 instances in the plan");
    const imported = await stack.type(`pulumi import --file plan.json --stack dev --out ${file}`);
    expect(imported).toMatch(/= 2 imported/);

    expect(await stack.up()).toMatch(/~ 2 updated/);
    await stack.expectNothingToDo();
    for (const { inputs: held } of await stack.instances()) {
      expect(held).toMatchObject({ ...required, sshKeys: ["key-1"] });
    }
    expect(fixture.posts()).toBe(0);
  });
}

/** How to run the test of an example in the folder `cwd`: the command, its arguments, and variables. */
const exampleTests = {
  Python: async (cwd: string) => {
    const [modules = ""] = globSync("venv/lib/python*/site-packages", { cwd });
    const pytest = join(await ensurePythonTools("programs"), "pytest");
    return { command: [pytest, "-q"], env: { PYTHONPATH: join(cwd, modules) }, passed: /1 passed/ };
  },
  Go: () => ({ command: ["go", "test", "."], env: {}, passed: /^ok\s/m }),
} as const;

for (const [name, ownTest] of Object.entries(exampleTests)) {
  const language = languages[name as keyof typeof exampleTests];
  testUnless(missingTools(language), `the test of the ${name} example passes`, async () => {
    const { project, env } = await installed(language);
    using copy = new WorkingCopy({ project, env });
    using pulumi = temporaryFolder();
    const { command, passed, ...own } = await ownTest(copy.project);
    const [file = "", ...args] = command;
    const variables = { ...process.env, ...withPlugin(pulumi.path), ...env, ...own.env };
    const output = await captured(file, args, { cwd: copy.project, env: variables });
    expect(output).toMatch(passed);
  });
}
