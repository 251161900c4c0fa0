/** Tests the plugin inside the npm package of the SDK, which runs with the Node of the project. */
import { spawn, spawnSync, type StdioOptions } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { beforeAll, expect } from "@jest/globals";
import metadata from "../../metadata.json";
import { ensureArchive } from "../../tools/dist/archives";
import { blocksOf } from "../../tools/docs/markdown";
import { pages } from "../../tools/docs/pages";
import { captured } from "../../tools/support/command";
import { ownPulumi } from "../../tools/support/ownPulumi";
import { testUnless } from "../../tools/support/unless";
import { installed, missingTools, npmPackage, WorkingCopy } from "./support/installing";
import { endGroup } from "./support/processes";
import { ReleasePage } from "./support/releasePage";
import { pluginsAt, type Stack } from "./support/stack";
import { Fixture } from "./support/fixture";

const skipReason = missingTools(npmPackage);
const testHere = testUnless.bind(undefined, skipReason);

const plugin = `pulumi-resource-${metadata.name}`;
const directory = `node_modules/${metadata.sdk.nodejs.package}/plugin`;

let program: string;
let modules: string;

beforeAll(async () => {
  if (skipReason !== undefined) return;
  ({ project: program } = await installed(npmPackage));
  modules = join(program, "node_modules");
});

const createFixture = (env: NodeJS.ProcessEnv = {}) =>
  Fixture.create({ program, namesPlugin: false, env });

/** Runs the command as an npm script, for which npm puts node_modules/.bin first on PATH. */
function npmRun(stack: Stack, command: string): Promise<string> {
  const file = join(stack.project, "package.json");
  const project = JSON.parse(readFileSync(file, "utf8")) as object;
  writeFileSync(file, JSON.stringify({ ...project, scripts: { pulumi: command } }));
  return stack.type("npm run --silent pulumi");
}

testHere(
  "an npm script finds the plugin on the PATH that npm sets, and Pulumi reports its path",
  async () => {
    await using fixture = await createFixture();
    const output = await npmRun(fixture.stack, "pulumi up --yes --skip-preview --non-interactive");
    expect(output).toMatch(
      new RegExp(`using ${plugin} from \\$PATH at .*node_modules/.bin/${plugin}`),
    );
    expect(fixture.control.instances()).toHaveLength(2);
  },
);

testHere(
  "a project can name the plugin's directory in node_modules, and Pulumi prints no warning",
  async () => {
    await using fixture = await createFixture();
    appendFileSync(join(fixture.stack.project, "Pulumi.yaml"), pluginsAt(directory));
    expect(await fixture.stack.preview()).not.toContain("warning");
  },
);

for (const options of ["--inspect-brk=0", "--require=/not/there.cjs"]) {
  testHere(
    `NODE_OPTIONS=${options}, which is meant for the program, does not reach the plugin whose directory a project names`,
    async () => {
      await using fixture = await Fixture.create({
        namesPlugin: false,
        env: { NODE_OPTIONS: options },
      });
      appendFileSync(
        join(fixture.stack.project, "Pulumi.yaml"),
        pluginsAt(join(program, directory)),
      );
      expect(await fixture.stack.preview()).toContain("2 to create");
    },
  );
}

testHere(
  "if Pulumi ignores PATH and the project names no directory, it downloads the plugin that the SDK names",
  async () => {
    await using page = await ReleasePage.serve(await ensureArchive());
    await using fixture = await createFixture({
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: undefined,
      PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES: `^${metadata.pluginDownloadURL}=${page.url}`,
      PULUMI_IGNORE_AMBIENT_PLUGINS: "true",
    });
    const output = await npmRun(fixture.stack, "pulumi preview --non-interactive");
    expect(output).toMatch(/\+ 3 to create/);
    expect(page.asked).toHaveLength(1);
    rmSync(join(fixture.stack.home, "plugins"), { recursive: true, force: true });
  },
);

testHere("`npx pulumi-compute` starts the emulator, without the repository", async () => {
  const env = { ...process.env, PATH: process.env["COMPUTE_TEST_PATH"] };
  const args = ["--no-install", "pulumi-compute", "emulator", "--port", "0"];
  const stdio: StdioOptions = ["ignore", "pipe", "inherit"];
  // In a group of its own, so that a signal reaches what npx starts, as Ctrl-C at a terminal does.
  const child = spawn("npx", args, { cwd: program, env, stdio, detached: true });
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => endGroup(child, "SIGINT"));
  let said = "";
  for await (const line of createInterface(child.stdout as Readable)) {
    said += line;
    if (line.includes("COMPUTE_API_TOKEN=")) break;
  }
  const [url] = /http:\S+(?= \(in memory)/.exec(said) ?? [];
  const [, token] = /COMPUTE_API_TOKEN=(\S+)/.exec(said) ?? [];
  const headers = { Authorization: `Bearer ${token}` };
  const listing = await fetch(`${url}/instances`, { headers });
  expect(await listing.json()).toMatchObject({ data: [], has_more: false });
});

testHere(
  "the test in docs/testing.md passes with the package that npm installs, and again",
  async () => {
    const page = pages.find(({ name }) => name === "docs/testing.md");
    const block = page && blocksOf(page).find(({ language }) => language === "typescript");
    using copy = new WorkingCopy(await installed(npmPackage));
    const { project: cwd } = copy;
    // Node 20 finds no test in a TypeScript file, and would pass.
    const [file = ""] = /program\.test\.[cm]?js(?=`)/.exec(page?.text ?? "") ?? [];
    writeFileSync(join(cwd, file), block?.text ?? "");
    appendFileSync(join(cwd, "Pulumi.yaml"), pluginsAt(directory));
    const env = { ...process.env, ...ownPulumi(cwd), PATH: process.env["COMPUTE_TEST_PATH"] };
    // The second run finds the settings that the first one has left.
    for (const hasSettings of [false, true]) {
      expect(existsSync(join(cwd, "Pulumi.test.yaml"))).toBe(hasSettings);
      const args = ["--test", "--test-reporter=tap"];
      const output = await captured(process.execPath, args, { cwd, env });
      expect(output).toMatch(/^# pass 4$/m);
      expect(output).not.toContain("Warning");
    }
  },
);

/** Code that makes Node pass for another one, because not every machine has one. npm and the bundle read these two. */
const passFor = (version: string) =>
  `data:text/javascript,Object.defineProperty(process,'version',{value:'v${version}'});` +
  `Object.defineProperty(process.versions,'node',{value:'${version}'})`;
const older = passFor("22.18.0");

testHere(
  "on Node 20, npm warns of no package but Pulumi's own, and on Node 18 also of this one",
  async () => {
    using copy = new WorkingCopy(await installed(npmPackage));
    const warnedOf = (version: string) => {
      const env = { ...process.env, NODE_OPTIONS: `--import=${passFor(version)}` };
      const options = { cwd: copy.project, env, encoding: "utf8" } as const;
      // Under `npm run --silent`, npm would print no warnings.
      const args = ["install", "--dry-run", "--prefer-offline", "--loglevel=warn"];
      const { stderr } = spawnSync("npm", args, options);
      return [...stderr.matchAll(/EBADENGINE +package: '(.+)@/g)].map(([, name = ""]) => name);
    };
    const { package: name } = metadata.sdk.nodejs;
    expect(warnedOf("20.20.2").filter((warned) => warned !== "@pulumi/pulumi")).toEqual([]);
    expect(warnedOf("18.20.8")).toContain(name);
  },
);

testHere("a Node that is too old for the emulator says so", () => {
  const source = `require("${metadata.sdk.nodejs.package}/testing")`;
  const options = { cwd: program, encoding: "utf8" } as const;
  const { stderr } = spawnSync(process.execPath, ["--import", older, "-e", source], options);
  expect(stderr).toMatch(
    /testing needs Node\.js 22\.19 or later \(.*23\.10.*\), and this is 22\.18\.0/,
  );
});

for (const [title, file, isNamed] of [
  ["an npm script finds", () => join(modules, ".bin", plugin), false],
  ["Pulumi.yaml names", () => join(program, directory, "fromNpm.js"), true],
] as const) {
  testHere(`with a Node that is too old, the plugin that ${title} says what helps`, () => {
    const args = ["--import", older, file(), "--version"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(stderr).toMatch(
      /needs Node\.js 22\.19 or later \(.*23\.10.*\), and the one on PATH is 22\.18\.0/,
    );
    expect(stderr).toContain("PULUMI_IGNORE_AMBIENT_PLUGINS=true");
    expect(stderr.includes("remove the provider's entry under `plugins`")).toBe(isNamed);
    expect(stdout).toBe("");
    expect(status).toBe(1);
  });
}

testHere(
  "PulumiPlugin.yaml names the runtime, and the package.json beside it names the bundle",
  () => {
    const read = (file: string) => readFileSync(join(program, directory, file), "utf8");
    expect(read("PulumiPlugin.yaml")).toBe("runtime: nodejs\n");
    const { main } = JSON.parse(read("package.json")) as { main: string };
    // Windows can't start the launcher, which the tests above start.
    expect(read(main)).toMatch(/^#!\/usr\/bin\/env node\n/);
  },
);
