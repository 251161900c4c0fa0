/** Tests the plugin as one executable (`npm run release -- plugins`) on a machine without Node, and its archive. */
import { expect, test } from "@jest/globals";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { extract, list } from "tar";
import metadata from "../../metadata.json";
import { pluginRun } from "../../provider/advice";
import { temporaryFolder } from "../../provider/testing/temporaryFolder";
import committed from "../../schema.json";
import { ensureArchive, ensureExecutable, packPlugin } from "../../tools/dist/archives";
import { makeExecutable } from "../../tools/dist/executable";
import { makeParts } from "../../tools/dist/parts";
import { executableName, thisPlatform } from "../../tools/dist/platforms";
import { firstLine } from "../../tools/support/command";
import { hashOf } from "../../tools/support/files";
import { root } from "../../tools/support/paths";
import { Fixture } from "./support/fixture";
import { pluginsAt } from "./support/stack";

const here = thisPlatform();

/** The PATH of the tests without the directories that have a Node. */
const pathWithoutNode = (process.env["COMPUTE_TEST_PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !existsSync(join(folder, "node")))
  .join(delimiter);

class Machine implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "compute-machine-"));
  readonly home = join(this.folder, "home");
  /** Where Pulumi installs it, if this is the Pulumi home. */
  readonly plugin = join(this.home, "plugins", `resource-${metadata.name}-v${metadata.version}`);
  readonly executable = join(this.plugin, executableName(here));
  #user: { uid: number; gid: number } | object = {};

  static async create(): Promise<Machine> {
    const machine = new Machine();
    mkdirSync(machine.plugin, { recursive: true });
    await extract({ file: await ensureArchive(), cwd: machine.plugin });
    return machine;
  }

  /** Makes the plugin's directory read-only. Root could still write to it, so the plugin then runs as another user. */
  makeReadOnly(): void {
    const nobody = 65534;
    if (process.getuid?.() === 0) {
      this.#user = { uid: nobody, gid: nobody };
      chownSync(this.home, nobody, nobody);
      chmodSync(this.folder, 0o755);
    }
    chmodSync(this.plugin, 0o555);
  }

  run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const { status, stdout, stderr } = spawnSync(this.executable, args, {
      cwd: this.home,
      encoding: "utf8",
      env: { HOME: this.home, ...env },
      ...this.#user,
    });
    return { status, output: stdout + stderr };
  }

  /** Starts the plugin as the engine does, ends it as Ctrl-C does, and returns its first line and how it ended. */
  async startAndInterrupt() {
    using child = spawn(this.executable, ["127.0.0.1:1"], {
      cwd: this.home,
      stdio: ["pipe", "pipe", "inherit"],
      env: { HOME: this.home },
      ...this.#user,
    });
    const port = await firstLine(child.stdout);
    const ended = once(child, "exit");
    child.kill("SIGINT");
    const [code, signal] = (await ended) as [number | null, string | null];
    return { port, code, signal };
  }

  [Symbol.dispose](): void {
    chmodSync(this.plugin, 0o755);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

test("with no Node on PATH, the executable previews, creates and destroys the example", async () => {
  using machine = await Machine.create();
  await using fixture = await Fixture.create({
    program: join(root, "examples", "instance-yaml"),
    env: { PATH: pathWithoutNode },
  });
  const project = join(fixture.stack.project, "Pulumi.yaml");
  const text = readFileSync(project, "utf8");
  const replaced = text.replace(pluginsAt(join(root, "bin")), pluginsAt(machine.plugin));
  expect(replaced).not.toBe(text);
  writeFileSync(project, replaced);

  expect(await fixture.stack.preview()).toContain("+ 3 to create");
  expect(await fixture.stack.up()).toContain("3 created");
  const made = fixture.control.instances().map(({ ipv4_public }) => ipv4_public);
  const { ipv4 } = await fixture.stack.outputs();
  expect(new Set(ipv4 as string[])).toEqual(new Set(made));
  expect(await fixture.stack.destroy()).toContain("3 deleted");
  expect(fixture.posts()).toBe(2);
  // This executable was used: the code that V8 compiled from it is beside it.
  const left = readdirSync(join(machine.plugin, ".cache")).sort();
  expect(left).toEqual([expect.stringMatching(/-created$/), expect.stringMatching(/-started$/)]);
});

test("in a read-only directory the plugin starts, and keeps its compiled code in the home directory", async () => {
  using machine = await Machine.create();
  const before = readdirSync(machine.plugin);
  machine.makeReadOnly();
  const ended = { port: expect.stringMatching(/^\d+$/), code: null, signal: "SIGINT" };

  expect(await machine.startAndInterrupt()).toEqual(ended);
  const cache = join(machine.home, ".cache", "pulumi-resource-compute");
  expect(readdirSync(cache)).toHaveLength(1);
  expect(await machine.startAndInterrupt()).toEqual(ended);

  expect(readdirSync(machine.plugin)).toEqual(before);
});

test("run by hand, the executable prints its version and help, and runs its commands", async () => {
  using machine = await Machine.create();
  // Such a variable is meant for a Node program that runs Pulumi. The file does not exist here.
  const env = { NODE_OPTIONS: "--require=/not/there.cjs", PULUMI_HOME: machine.home };

  for (const [args, status, output] of [
    [["--version"], 0, new RegExp(`^${metadata.version}\\n$`)],
    [["--help"], 0, /^ {2}settle /m],
    [["settle", "--take", "no-id"], 2, /./],
    [["no-such-command"], 2, /./],
    [["emulator", "--help"], 0, new RegExp(`^Usage: ${pluginRun} emulator \\[options\\]$`, "m")],
  ] as const) {
    expect(machine.run(args, env)).toEqual({ status, output: expect.stringMatching(output) });
  }
});

test("the emulator inside it answers, and ends at Ctrl-C", async () => {
  using machine = await Machine.create();
  using child = spawn(machine.executable, ["emulator", "--port", "0"], {
    cwd: machine.home,
    stdio: ["ignore", "pipe", "inherit"],
    env: { HOME: machine.home },
  });
  const ended = once(child, "exit");
  const line = await firstLine(child.stdout);
  const url = /http:\S+/.exec(line)?.[0] ?? "";
  const headers = { Authorization: "Bearer sk_test_emulator" };
  const { status } = await fetch(`${url}/instances`, { headers });
  child.kill("SIGINT");

  expect(status).toBe(200);
  expect(await ended).toEqual([0, null]);
});

test("the engine gets the schema from the executable", async () => {
  using machine = await Machine.create();
  const { stdout } = spawnSync(
    process.env["COMPUTE_TEST_PULUMI"] ?? "pulumi",
    ["package", "get-schema", machine.executable],
    { encoding: "utf8", env: { PATH: pathWithoutNode, HOME: machine.home } },
  );

  // The engine sorts the names.
  const names = (schema: typeof committed) =>
    [schema.resources, schema.functions, schema.types].map((kind) => Object.keys(kind).sort());
  const given = JSON.parse(stdout) as typeof committed;
  expect(given.version).toBe(metadata.version);
  expect(names(given)).toEqual(names(committed));
});

test("the archive has the name that Pulumi looks for, and contains the executable and the licences", async () => {
  const archive = await ensureArchive();
  const entries: object[] = [];
  await list({
    file: archive,
    onReadEntry: ({ path, mode, uid }) => void entries.push({ path, mode, uid }),
  });

  expect(basename(archive)).toBe(`pulumi-resource-compute-v${metadata.version}-${here}.tar.gz`);
  expect(entries).toEqual([
    { path: "LICENSE", mode: 0o644, uid: undefined },
    { path: "THIRD-PARTY-NOTICES.txt", mode: 0o644, uid: undefined },
    { path: executableName(here), mode: 0o755, uid: undefined },
  ]);
});

test("two builds produce the same bytes", async () => {
  const folder = temporaryFolder();
  const [executable, archive] = [join(folder, "executable"), join(folder, "archive")];
  await makeExecutable(here, await makeParts(), executable);
  await packPlugin(here, executable, archive);

  const digest = (path: string) => hashOf([readFileSync(path)]);
  expect(digest(executable)).toBe(digest(await ensureExecutable()));
  expect(digest(archive)).toBe(digest(await ensureArchive()));
});
