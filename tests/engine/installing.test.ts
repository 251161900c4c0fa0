/**
 * Tests each way to install the plugin from the released archive, on a machine without Node: PATH has only Pulumi and
 * its YAML host.
 */
import { hash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import metadata from "../../metadata.json";
import { ensureArchive } from "../../tools/dist/archives";
import { captured } from "../../tools/support/command";
import { instances, oneInstance } from "./support/programs";
import { ReleasePage } from "./support/releasePage";
import { pluginsAt } from "./support/stack";
import { Fixture } from "./support/fixture";

const { name, version } = metadata;
const plugin = `pulumi-resource-${name}`;

let archive: string;
let folder: string;
let withoutNode: string;

beforeAll(async () => {
  archive = await ensureArchive();
  folder = mkdtempSync(join(tmpdir(), "compute-installing-"));
  withoutNode = join(folder, "bin");
  mkdirSync(withoutNode);
  link("pulumi", process.env["COMPUTE_TEST_PULUMI"]);
  const host = "pulumi-language-yaml";
  const directories = (process.env["COMPUTE_TEST_PATH"] ?? "").split(delimiter);
  link(host, directories.map((directory) => join(directory, host)).find(existsSync));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function link(command: string, target: string | undefined): void {
  if (target === undefined) throw new Error(`${command} is not on PATH`);
  symlinkSync(target, join(withoutNode, command));
}

/** Returns a stack whose engine finds no plugin and no Node, and downloads no plugin unless `env` allows it. */
const bareFixture = (program: string, env: NodeJS.ProcessEnv = {}) =>
  Fixture.create({ program, namesPlugin: false, env: { PATH: withoutNode, ...env } });

const acquisition = { PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: undefined };
const install = ["plugin", "install", "resource", name];
const downloaded = () => [basename(archive)];

async function expectItWorks({ stack, control }: Fixture): Promise<void> {
  await stack.up();
  expect(control.instances()).toHaveLength(1);
  // The plugin has over 100 MB, which the search for secrets can skip: it was made before the test.
  rmSync(join(stack.home, "plugins"), { recursive: true, force: true });
}

async function unpack(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  await captured("tar", ["-xzf", archive, "-C", directory]);
}

test("without an installed plugin, a preview fails", async () => {
  await using fixture = await bareFixture(oneInstance());
  expect(await fixture.stack.fail("preview")).toContain(`no resource plugin '${plugin}' found`);
});

test("`pulumi plugin install --server` downloads the plugin from a release page", async () => {
  await using page = await ReleasePage.serve(archive);
  await using fixture = await bareFixture(oneInstance());
  await fixture.stack.succeed(...install, version, "--server", page.url);
  await expectItWorks(fixture);
  expect(page.asked).toEqual(downloaded());
});

test("with `--checksum`, an archive with another checksum is not installed, if the folder has no project that names the plugin", async () => {
  await using page = await ReleasePage.serve(archive);
  const packages = { [name]: { source: name, version, pluginDownloadURL: page.url } };
  await using fixture = await bareFixture(instances({ web: {} }, { packages }));
  const { stack } = fixture;
  const outside = ["-C", "/", ...install, version, "--server", page.url, "--checksum"];
  const right = hash("sha256", readFileSync(archive));
  expect(await stack.fail(...outside, "0".repeat(64))).toContain(`invalid checksum, expected 0`);
  expect(existsSync(join(stack.home, "plugins", `resource-${name}-v${version}`))).toBe(false);
  await stack.succeed(...outside, right);
  await expectItWorks(fixture);
  // Why the pages have `-C /`.
  await stack.succeed(...outside.slice(2), "0".repeat(64));
});

test("the first run downloads the plugin from `pluginDownloadURL`, later runs download nothing", async () => {
  await using page = await ReleasePage.serve(archive);
  const program = oneInstance({}, { version, pluginDownloadURL: page.url });
  await using fixture = await bareFixture(program, acquisition);
  await fixture.stack.preview();
  await expectItWorks(fixture);
  expect(page.asked).toEqual(downloaded());
});

test("PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES replaces the download URL of the program", async () => {
  await using page = await ReleasePage.serve(archive);
  const { pluginDownloadURL } = metadata;
  const overrides = { PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES: `^${pluginDownloadURL}=${page.url}` };
  const program = oneInstance({}, { version, pluginDownloadURL });
  await using fixture = await bareFixture(program, { ...acquisition, ...overrides });
  await expectItWorks(fixture);
  expect(page.asked).toEqual(downloaded());
});

test("`pulumi plugin install --file` needs no network", async () => {
  await using fixture = await bareFixture(oneInstance());
  await fixture.stack.succeed(...install, version, "--file", archive);
  await expectItWorks(fixture);
});

test("the engine finds a plugin that was unpacked by hand into the plugin folder of the Pulumi home, or where the project says", async () => {
  await using fixture = await bareFixture(oneInstance({}, { version }));
  const { home } = fixture.stack;
  await unpack(join(home, "plugins", `resource-${name}-v${version}`));
  await expectItWorks(fixture);

  const directory = join(folder, "unpacked");
  await unpack(directory);
  fixture.stack.program(pluginsAt(directory) + oneInstance());
  await fixture.stack.expectNothingToDo();
});

test("if the release page lacks the version that the program asks for, the error contains the install command", async () => {
  await using page = await ReleasePage.serve(archive);
  const program = oneInstance({}, { version: "99.0.0", pluginDownloadURL: page.url });
  await using fixture = await bareFixture(program, acquisition);
  const output = await fixture.stack.fail("preview");
  expect(output).toContain(`\`pulumi ${install.join(" ")} v99.0.0 --server ${page.url}\``);
  expect(page.asked).toContain(basename(archive).replace(version, "99.0.0"));
});

test("if the plugin is older than the version that the program asks for, Pulumi itself warns, and if it is newer, there is no warning", async () => {
  await using fixture = await Fixture.create({ program: oneInstance({}, { version: "99.0.0" }) });
  const expected = `${name} is expected to have version >=99.0.0, but has ${version}`;
  expect(await fixture.stack.preview()).toContain(expected);

  fixture.stack.program(oneInstance({}, { version: "0.0.1" }));
  expect(await fixture.stack.preview()).not.toMatch(/warning|version/);
});
