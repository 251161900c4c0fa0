/**
 * Tests `pulumi package add`, which writes the SDK from the schema of the plugin. languages.test.ts types it in a copy of
 * each example, and runs the program.
 */
import { cpSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { load } from "js-yaml";
import metadata from "../../metadata.json";
import { ensureArchive } from "../../tools/dist/archives";
import { captured } from "../../tools/support/command";
import { temporaryFolder } from "../../tools/support/files";
import { root } from "../../tools/support/paths";
import { testUnless } from "../../tools/support/unless";
import { languages, missingTools, withPlugin, type Language } from "./support/installing";
import { ReleasePage } from "./support/releasePage";
import { missingBefore, plugin } from "./support/stack";
import { Fixture } from "./support/fixture";

const { name, version, pluginDownloadURL } = metadata;
const example = join(root, "examples", "instance-yaml");
const template = join(root, "templates", "compute-yaml");
const yamlSdk = join("sdks", name, `${name}-${version}.yaml`);

const read = (...path: string[]) => readFileSync(join(...path), "utf8");
const packagesOf = (project: string) =>
  (load(read(project, "Pulumi.yaml")) as { packages?: unknown }).packages;

let folder: ReturnType<typeof temporaryFolder>;
beforeAll(() => void (folder = temporaryFolder()));
afterAll(() => folder[Symbol.dispose]());

/** Where the project names its SDK. */
const namedIn = {
  TypeScript: ["package.json", `"file:sdks/${name}"`],
  Python: ["requirements.txt", `\nsdks/${name}\n`],
  Go: ["go.mod", `replace ${metadata.sdk.go.module} => ./sdks/${name}`],
  YAML: ["Pulumi.yaml", `${name}: ${name}@${version}`],
} as const satisfies Partial<Record<keyof typeof languages, readonly [string, string]>>;

for (const [title, [file, line]] of Object.entries(namedIn)) {
  const language: Language = languages[title as keyof typeof namedIn];
  testUnless(
    missingTools(language),
    `a project of the ${title} template gets its SDK from the installed plugin, and can be previewed`,
    async () => {
      const project = join(folder.path, title);
      const languageEnv = await language.env?.();
      const env = {
        ...process.env,
        ...withPlugin(join(folder.path, `${title}-pulumi`)),
        ...languageEnv,
      };
      const from = join(root, "templates", `compute-${title.toLowerCase()}`);
      const options = [
        "--generate-only",
        "--yes",
        "--non-interactive",
        "--name=web",
        `--dir=${project}`,
      ];
      await captured("pulumi", ["new", from, ...options], { env });
      await captured("pulumi", ["package", "add", name], { cwd: project, env });
      expect(packagesOf(project)).toEqual({ [name]: `${name}@${version}` });
      expect(read(project, file)).toContain(line);

      await using fixture = await Fixture.create({
        program: project,
        project: "web",
        ...(languageEnv && { env: languageEnv }),
      });
      const settings = ["flavorId", "imageId", "vpcId"].map((key) => `--plaintext=${key}=some`);
      await fixture.stack.succeed("config", "set-all", ...settings);
      expect(await fixture.stack.preview()).toMatch(/\+ 3 to create/);
    },
  );
}

test("`pulumi package add` writes for a YAML program what the template has", async () => {
  await using fixture = await Fixture.create({ program: example });
  await fixture.stack.type(`pulumi package add '${plugin}'`);
  expect(read(fixture.stack.project, yamlSdk)).toBe(read(template, yamlSdk));
  expect(packagesOf(fixture.stack.project)).toEqual({ [name]: `${name}@${version}` });
});

const acquisition = { PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: undefined };

test("a project of the YAML template downloads the plugin from the address of the release page", async () => {
  await using page = await ReleasePage.serve(await ensureArchive());
  const overrides = { PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES: `^${pluginDownloadURL}=${page.url}` };
  const env = { ...acquisition, ...overrides };
  await using fixture = await Fixture.create({ program: example, namesPlugin: false, env });
  cpSync(join(template, "sdks"), join(fixture.stack.project, "sdks"), { recursive: true });
  expect(await fixture.stack.preview()).toMatch(/\+ 3 to create/);
  expect(page.asked).toEqual([basename(await ensureArchive())]);
  rmSync(join(fixture.stack.home, "plugins"), { recursive: true, force: true });
});

testUnless(
  missingBefore("3.256.0", "`--server`"),
  "`pulumi package add --server` downloads the plugin, and the program then needs it from there",
  async () => {
    await using page = await ReleasePage.serve(await ensureArchive());
    await using fixture = await Fixture.create({
      program: example,
      namesPlugin: false,
      env: acquisition,
    });
    const { stack } = fixture;
    await stack.type(`pulumi package add ${name}@${version} --server ${page.url}`);
    expect(load(read(stack.project, yamlSdk))).toMatchObject({ version, downloadUrl: page.url });
    rmSync(join(stack.home, "plugins"), { recursive: true, force: true });
    expect(await stack.preview()).toMatch(/\+ 3 to create/);
    const archive = basename(await ensureArchive());
    expect(page.asked).toEqual([archive, archive]);
    rmSync(join(stack.home, "plugins"), { recursive: true, force: true });
  },
);
