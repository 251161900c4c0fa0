/**
 * Tests the templates for `pulumi new`. Each makes a project that runs, with the settings that its questions ask for.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { load } from "js-yaml";
import metadata from "../../metadata.json";
import { pathOf, questionsOf, templates } from "../../tools/docs/templates";
import { captured } from "../../tools/support/command";
import { ownPulumi } from "../../tools/support/ownPulumi";
import { root } from "../../tools/support/paths";
import { testUnless } from "../../tools/support/unless";
import { passphrase } from "./support/engineLogs";
import { Fixture } from "./support/fixture";
import { languages, missingTools, type Language } from "./support/installing";

const defaultsOf = (template: string) =>
  Object.entries(questionsOf(template)).flatMap(([name, question]) =>
    question.default === undefined ? [] : [[name, question.default] as const],
  );

let folder: string;

// Outside the repository, whose node_modules would hide a dependency that a template forgot to declare.
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "compute-templates-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs `pulumi new` with the plugin installed, and returns the folder of the project `web`. */
async function pulumiNew(template: string, ...args: string[]): Promise<string> {
  const home = mkdtempSync(join(folder, `${template}-`));
  const project = join(home, "web");
  const pluginFolder = `resource-${metadata.name}-v${metadata.version}`;
  cpSync(join(root, "bin"), join(home, "home", "plugins", pluginFolder), { recursive: true });
  const env = {
    PATH: process.env["COMPUTE_TEST_PATH"],
    HOME: home,
    ...ownPulumi(home),
    PULUMI_CONFIG_PASSPHRASE: passphrase,
  };
  const options = ["--yes", "--non-interactive", "--name=web", `--dir=${project}`, ...args];
  const pulumi = process.env["COMPUTE_TEST_PULUMI"] ?? "pulumi";
  await captured(pulumi, ["new", pathOf(template), ...options], { cwd: home, env });
  return project;
}

test("`pulumi new` saves the defaults. A question left empty saves nothing: the environment gives that setting", async () => {
  const project = await pulumiNew(templates.YAML, "--stack=dev");
  const { config } = load(readFileSync(join(project, "Pulumi.dev.yaml"), "utf8")) as {
    config: Record<string, string>;
  };
  const saved = defaultsOf(templates.YAML).map(([name, value]) => [`web:${name}`, value] as const);
  expect(config).toEqual(Object.fromEntries(saved));
});

for (const [name, template] of Object.entries(templates)) {
  const language: Language = languages[name as keyof typeof templates];
  const title = `the ${name} template gives a program that comes up, passes an address to another server and exports one`;
  testUnless(missingTools(language), title, async () => {
    const project = await pulumiNew(template, "--generate-only");
    const env = {
      ...(await language.env?.()),
      ...(await language.installPackedSdk?.(project)),
    };
    await using fixture = await Fixture.create({ program: project, project: "web", env });
    const { stack } = fixture;
    const unset = await stack.fail("preview");
    expect(unset).toMatch(/missing .*flavorId|flavorId.* missing/i);
    expect(unset).not.toMatch(/^\s*(panic:|goroutine )/m);
    const answers = defaultsOf(template).map(
      ([setting, value]) => `--plaintext=${setting}=${value}`,
    );
    await stack.succeed("config", "set-all", ...answers);

    await stack.up();
    const [db, web, ...others] = fixture.control.instances();
    expect(others).toEqual([]);
    expect(await stack.outputs()).toEqual({ address: web?.ipv4_public });
    const script = Buffer.from(web?.request.user_data ?? "", "base64").toString();
    expect(script).toContain(`content: "${db?.networks[0]?.ipv4}"`);
  });
}
