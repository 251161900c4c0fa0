/** Tests the plugin inside the npm package of the SDK, which runs with the Node of the project. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect } from "@jest/globals";
import metadata from "../../metadata.json";
import { ensureArchive } from "../../tools/dist";
import { testUnless } from "../../tools/support/unless";
import { guests, hindrance, installed } from "./support/installing";
import { ReleasePage } from "./support/releasePage";
import { pluginsAt, type Stack } from "./support/stack";
import { Fixture } from "./support/fixture";

// The first run spends most of its time on downloads.
const skipReason = hindrance(guests.TypeScript);
const testHere = testUnless.bind(undefined, skipReason);

const plugin = `pulumi-resource-${metadata.name}`;

let program: string;
let modules: string;

beforeAll(async () => {
  if (skipReason !== undefined) return;
  ({ project: program } = await installed(guests.TypeScript));
  modules = join(program, "node_modules");
});

const createFixture = (env: NodeJS.ProcessEnv = {}) =>
  Fixture.create({ program, namesPlugin: false, env });

/** Runs the command as an npm script, for which npm puts node_modules/.bin first on PATH. */
async function npmRun(stack: Stack, command: string): Promise<string> {
  const file = join(stack.project, "package.json");
  const project = JSON.parse(readFileSync(file, "utf8")) as object;
  writeFileSync(file, JSON.stringify({ ...project, scripts: { pulumi: command } }));
  const { code, output } = await stack.type("npm run --silent pulumi");
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output}`);
  return output;
}

testHere(
  "an npm script finds the plugin on the PATH that npm sets, and Pulumi reports its path",
  async () => {
    await using fixture = await createFixture();
    const output = await npmRun(fixture.stack, "pulumi up --yes --skip-preview --non-interactive");
    expect(output).toMatch(
      new RegExp(`using ${plugin} from \\$PATH at .*node_modules/.bin/${plugin}`),
    );
    expect(fixture.service.control.instances()).toHaveLength(2);
  },
);

testHere(
  "a project can name the plugin's directory in node_modules, and Pulumi prints no warning",
  async () => {
    await using fixture = await createFixture();
    const file = join(fixture.stack.project, "Pulumi.yaml");
    const path = `node_modules/${metadata.sdk.nodejs.package}/plugin`;
    writeFileSync(file, readFileSync(file, "utf8") + pluginsAt(path));
    expect(await fixture.stack.succeed("preview")).not.toContain("warning");
  },
);

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

testHere("`npx pulumi-compute` runs the commands of the plugin", () => {
  const env = { ...process.env, PATH: process.env["COMPUTE_TEST_PATH"] };
  const options = { cwd: program, env, encoding: "utf8" } as const;
  const version = execFileSync("npx", ["--no-install", "pulumi-compute", "--version"], options);
  expect(version.trim()).toBe(metadata.version);
});

testHere("with a Node that is too old, the plugin says what to do", () => {
  // The bundle reads Node's version from this property. Not every machine has an older Node.
  const older = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"22.18.0"})`;
  const file = join(modules, ".bin", plugin);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", older, file, "--version"],
    {
      encoding: "utf8",
    },
  );
  expect(stderr).toMatch(/needs Node\.js 22\.19 or later, and the one on PATH is 22\.18\.0/);
  expect(stderr).toContain("PULUMI_IGNORE_AMBIENT_PLUGINS=true");
  expect(stdout).toBe("");
  expect(status).toBe(1);
});

testHere(
  "PulumiPlugin.yaml names the runtime, and the package.json beside it names the bundle",
  () => {
    const directory = join(modules, metadata.sdk.nodejs.package, "plugin");
    const read = (file: string) => readFileSync(join(directory, file), "utf8");
    expect(read("PulumiPlugin.yaml")).toBe("runtime: nodejs\n");
    const { main } = JSON.parse(read("package.json")) as { main: string };
    expect(read(main)).toMatch(/^#!\/usr\/bin\/env node\n/);
  },
);
