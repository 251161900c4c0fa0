/**
 * Each way to install the plugin, from the archive that is released, on a machine without Node: PATH
 * has Pulumi and its YAML host, and nothing else.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import metadata from "../../metadata.json";
import { ensureArchive } from "../../tools/dist";
import { captured } from "../../tools/support/command";
import { oneInstance } from "./support/programs";
import { ReleasePage } from "./support/releasePage";
import { pluginsAt } from "./support/stack";
import { Fixture } from "./support/fixture";

// The first time, the archive is built.
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

/** A stack whose engine finds no plugin and no Node, and fetches nothing unless told. */
function bareFixture(program: string, env: NodeJS.ProcessEnv = {}): Promise<Fixture> {
  return Fixture.create({ program, namesPlugin: false, env: { PATH: withoutNode, ...env } });
}

const acquisition = { PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: undefined };
const install = ["plugin", "install", "resource", name];

/** The program runs, by the plugin of the archive. */
async function expectItWorks({ stack, service }: Fixture): Promise<void> {
  await stack.succeed("up", "--yes", "--skip-preview");
  expect(service.control.instances()).toHaveLength(1);
  // The plugin is over 100 MB, which need not be searched for secrets: it was there before them.
  rmSync(join(stack.home, "plugins"), { recursive: true, force: true });
}

async function unpack(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  await captured("tar", ["-xzf", archive, "-C", directory]);
}

test("without a plugin, nothing works: the tests below prove something", async () => {
  await using fixture = await bareFixture(oneInstance());
  const { code, output } = await fixture.stack.preview();
  expect(code).not.toBe(0);
  expect(output).toContain(`no resource plugin '${plugin}' found`);
  expect(readdirSync(withoutNode).sort()).toEqual(["pulumi", "pulumi-language-yaml"]);
});

test("`pulumi plugin install --server` takes it from a page of releases", async () => {
  await using page = await ReleasePage.serve(archive);
  await using fixture = await bareFixture(oneInstance());
  await fixture.stack.succeed(...install, version, "--server", page.url);
  await expectItWorks(fixture);
  expect(page.asked).toEqual([basename(archive)]);
});

test("the first run downloads it from `pluginDownloadURL`, and the next ones do not", async () => {
  await using page = await ReleasePage.serve(archive);
  const program = oneInstance({}, { version, pluginDownloadURL: page.url });
  await using fixture = await bareFixture(program, acquisition);
  await fixture.stack.succeed("preview");
  await expectItWorks(fixture);
  expect(page.asked).toEqual([basename(archive)]);
});

test("a page of one's own stands in for the one that the program names", async () => {
  await using page = await ReleasePage.serve(archive);
  const program = oneInstance({}, { version, pluginDownloadURL: metadata.pluginDownloadURL });
  await using fixture = await bareFixture(program, {
    ...acquisition,
    PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES: `^${metadata.pluginDownloadURL}=${page.url}`,
  });
  await expectItWorks(fixture);
  expect(page.asked).toEqual([basename(archive)]);
});

test("`pulumi plugin install --file` needs no network", async () => {
  await using fixture = await bareFixture(oneInstance());
  await fixture.stack.succeed(...install, version, "--file", archive);
  await expectItWorks(fixture);
});

test("unpacked by hand where `pulumi plugin install` would put it, it is found", async () => {
  await using fixture = await bareFixture(oneInstance({}, { version }));
  await unpack(join(fixture.stack.home, "plugins", `resource-${name}-v${version}`));
  await expectItWorks(fixture);
});

test("a project names the directory that the archive was unpacked to", async () => {
  const directory = join(folder, "unpacked");
  await unpack(directory);
  await using fixture = await bareFixture(pluginsAt(directory) + oneInstance());
  await expectItWorks(fixture);
});

test("a program for a newer plugin than the page has: the error says what to type", async () => {
  await using page = await ReleasePage.serve(archive);
  const program = oneInstance({}, { version: "99.0.0", pluginDownloadURL: page.url });
  await using fixture = await bareFixture(program, acquisition);
  const { code, output } = await fixture.stack.preview();
  expect(code).not.toBe(0);
  expect(output).toContain(`\`pulumi ${install.join(" ")} v99.0.0 --server ${page.url}\``);
  expect(page.asked).toContain(basename(archive).replace(version, "99.0.0"));
});

test("a program for a newer plugin than its path leads to: a warning says what to type", async () => {
  await using fixture = await Fixture.create({ program: oneInstance({}, { version: "99.0.0" }) });
  const preview = await fixture.stack.succeed("preview");
  expect(preview).toContain(`asks for version 99.0.0 of the ${name} plugin`);
  expect(preview).toContain(`\`pulumi ${install.join(" ")} 99.0.0 --server`);
});

test("a program for an older plugin hears nothing of it", async () => {
  await using fixture = await Fixture.create({ program: oneInstance({}, { version: "0.0.1" }) });
  expect(await fixture.stack.succeed("preview")).not.toMatch(/warning|version/);
});
