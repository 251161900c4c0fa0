/**
 * `npx tsx tools/windows/rig.ts [SCENE …]`: plays scenes of the plugin on Windows, as far as Linux allows: the executable for
 * Windows, and a Pulumi CLI that is built for it, in Wine, against the emulator. It fails if a scene does. The first run makes
 * a Debian with Wine (1.4 GB) and builds the CLI, which needs root, Debian x64 and Go, and takes a quarter of an hour.
 *
 *   up        two instances, and the commands `doctor` and `audit`
 *   reader    sixty instances, while another program reads the files of the ledger
 *   killed    the engine is killed during a create: the plugin ends, and the next `up` goes on with that create
 *   settle    a person answers `settle` at a console, after engine and plugin were killed
 *   words     the commands that the plugin shows are for PowerShell
 *   root      the registry has the certificate authority of the service
 *
 * Wine is not Windows: it has no CTRL_BREAK for another process, PowerShell, nor virus scanner, and no program in a language
 * but YAML runs there.
 *
 *   --plugin FILE   tries another executable of the plugin, such as that of an earlier version
 */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import metadata from "../../metadata.json";
import { startEmulator } from "../../emulator";
import { testAuthority, testServer } from "../../provider/api/testing/certificates";
import { TlsFront } from "../../tests/support/tlsFront";
import { ensureExecutable } from "../dist/archives";
import { ensureRuntime, executableName, nodeIn } from "../dist/platforms";
import { ensureGoTool } from "../go/tools";
import { oneOf, runTool, say } from "../support/main";
import { root } from "../support/paths";
import { withLock } from "../support/products";
import { Command, drive, ensureWine, gone, kill } from "./wine";

const [pulumi, host, plugin] = [
  "pulumi.exe",
  "pulumi-language-yaml.exe",
  executableName("windows-amd64"),
];
/** From the drive's root. The project of each scene is beside these. */
const [tools, home] = ["/rig/bin", "/rig/home"];
const installed = `${home}/plugins/resource-${metadata.name}-v${metadata.version}/${plugin}`;

const scenes = { up, reader, killed, settle, words, root: rootAuthority };
type SceneName = keyof typeof scenes;

/** Makes the drive's folder of the rig anew, with the programs in it. */
async function prepare(given: string | undefined): Promise<void> {
  await ensureWine();
  const node = nodeIn("windows-amd64", await ensureRuntime("windows-amd64"));
  const programs = {
    [`${tools}/${pulumi}`]: await ensureGoTool("engine-windows"),
    [`${tools}/${host}`]: await ensureGoTool("yaml-windows"),
    [`${tools}/node.exe`]: join(root, node),
    [installed]: given ?? (await ensureExecutable("windows-amd64")),
  };
  rmSync(join(drive, "rig"), { recursive: true, force: true });
  for (const [path, source] of Object.entries(programs)) {
    mkdirSync(join(drive, path, ".."), { recursive: true });
    copyFileSync(source, join(drive, path));
  }
}

/** A project and its state, and the emulator that its stack uses. */
async function openScene(name: SceneName, resources: readonly string[]) {
  const emulator = await startEmulator({
    provisioningSeconds: name === "up" || name === "reader" ? 1 : 3600,
  });
  const cwd = `/rig/${name}`;
  mkdirSync(join(drive, cwd, "state"), { recursive: true });
  const properties = { flavorId: "standard-2", imageId: "debian-12", vpcId: "vpc-main" };
  const instance = { type: "compute:Instance", properties };
  const declared = Object.fromEntries(resources.map((resource) => [resource, instance]));
  const program = { name: "rig", runtime: "yaml", resources: declared };
  writeFileSync(join(drive, cwd, "Pulumi.yaml"), JSON.stringify(program));
  const env = {
    // Windows gets PATH of Wine, and not this one.
    WINEPATH: windowsPath(tools),
    PULUMI_HOME: windowsPath(home),
    PULUMI_BACKEND_URL: `file://${windowsPath(`${cwd}/state`).replaceAll("\\", "/")}`,
    PULUMI_CONFIG_PASSPHRASE: "rig",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    COMPUTE_BASE_URL: emulator.url,
    COMPUTE_API_TOKEN: "sk_test_rig",
  };
  const start = (words: readonly string[], options: { console?: boolean } = {}) =>
    new Command(["wine", ...words], { cwd, env, ...options });
  const inPulumi = (...words: string[]) => start([`${tools}/${pulumi}`, ...words]);
  await inPulumi("stack", "init", "dev", "--non-interactive").succeeded();
  return {
    control: emulator.control,
    start,
    pulumi: inPulumi,
    up: () => inPulumi("up", "--yes", "--skip-preview", "--non-interactive"),
    own: (...words: string[]) => inPulumi(...pluginRun, ...words),
    posts: () => emulator.control.counts()["POST /v2/instances"] ?? 0,
    [Symbol.asyncDispose]: async () => {
      for (const program of [pulumi, host, plugin]) await kill(program);
      await emulator.close();
    },
  };
}

const pluginRun = ["plugin", "run", "--kind", "resource", metadata.name, "--"];
const windowsPath = (path: string) => `Z:${path.replaceAll("/", "\\")}`;

async function up(): Promise<void> {
  await using scene = await openScene("up", ["web-1", "web-2"]);
  assert.doesNotMatch(await scene.up().succeeded(), /warning:/);
  assert.equal(scene.control.instances().length, 2);
  assert.deepEqual(records(), []);
  await scene.pulumi("preview", "--expect-no-changes", "--non-interactive").succeeded();
  assert.match(await scene.own("doctor").succeeded(), /2 instances/);
  await scene.own("audit").succeeded();
  await scene.pulumi("destroy", "--yes", "--skip-preview", "--non-interactive").succeeded();
}

async function reader(): Promise<void> {
  const resources = Array.from({ length: 60 }, (_, index) => `web-${index}`);
  await using scene = await openScene("reader", resources);
  const script = `${tools}/reader.js`;
  writeFileSync(
    join(drive, script),
    `(${String(readLedger)})(${JSON.stringify(windowsPath(home))})`,
  );
  const reading = scene.start([`${tools}/node.exe`, script]);
  await reading.printed("reading");
  assert.doesNotMatch(await scene.up().succeeded(), /warning:/);
  assert.equal(scene.control.instances().length, 60);
  writeFileSync(join(drive, home, "stop"), "");
  assert.deepEqual(records(), []);
  // Otherwise the reader was not in the way.
  assert.match(await reading.succeeded(), /read [1-9]\d* times/);
}

/** Opens each record again and again, as a virus scanner does. Runs in Wine. */
function readLedger(home: string): void {
  const fs = process.getBuiltinModule("node:fs");
  const ledgers = `${home}/compute/ledger`;
  let times = 0;
  console.log("reading");
  while (!fs.existsSync(`${home}/stop`)) {
    const folders = fs.existsSync(ledgers) ? fs.readdirSync(ledgers) : [];
    const names = folders.flatMap((folder) =>
      fs.readdirSync(`${ledgers}/${folder}`).map((name) => `${folder}/${name}`),
    );
    for (const name of names.filter((each) => each.endsWith(".json"))) {
      try {
        const descriptor = fs.openSync(`${ledgers}/${name}`, "r");
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
        fs.closeSync(descriptor);
        times++;
      } catch {
        // It has gone.
      }
    }
  }
  console.log(`read ${times} times`);
}

/** Begins an `up`, and kills these programs when it waits for its instance, which then becomes ready. */
async function interrupt(
  scene: Awaited<ReturnType<typeof openScene>>,
  ...programs: string[]
): Promise<void> {
  const running = scene.up();
  await running.printed("PROVISIONING");
  for (const program of programs) await kill(program);
  await gone(plugin);
  // It outlives the engine, and has a file open that the next engine replaces.
  await kill(host);
  await scene.pulumi("cancel", "--yes").succeeded();
  scene.control.finishProvisioning();
}

async function killed(): Promise<void> {
  await using scene = await openScene("killed", ["web"]);
  await interrupt(scene, pulumi);
  assert.match(await scene.up().succeeded(), /goes on with it/);
  assert.equal(scene.posts(), 1);
  assert.deepEqual(records(), []);
}

async function settle(): Promise<void> {
  await using scene = await openScene("settle", ["web"]);
  await interrupt(scene, pulumi, plugin);
  const settling = scene.start([`${tools}/${pulumi}`, ...pluginRun, "settle"], { console: true });
  await settling.printed("[y/N]");
  settling.type("y");
  await settling.succeeded();
  assert.deepEqual(records(), []);
  await scene.up().succeeded();
  assert.equal(scene.posts(), 1);
}

async function words(): Promise<void> {
  const folder = "/rig/it's mine";
  mkdirSync(join(drive, folder));
  linkSync(join(drive, installed), join(drive, folder, plugin));
  const help = await new Command(["wine", `${folder}/${plugin}`, "--help"]).succeeded();
  const shown = `& 'Z:\\rig\\it''s mine\\${plugin}'`;
  assert.ok(help.includes(`Usage: ${shown} `), help);
}

async function rootAuthority(): Promise<void> {
  // The certificate is for this name, which the Debian with Wine lacks.
  writeFileSync(join(drive, "etc", "hosts"), "127.0.0.1 localhost\n");
  await using emulator = await startEmulator();
  await using front = await TlsFront.start(emulator.port, testServer);
  const env = { COMPUTE_BASE_URL: front.url, COMPUTE_API_TOKEN: "sk_test_rig" };
  const doctor = () => new Command(["wine", installed, "doctor"], { env }).succeeded();

  const { raw, fingerprint } = new X509Certificate(testAuthority);
  // Its begin: the number of the property "certificate", and what Windows writes behind that.
  const head = new Uint8Array(new Uint32Array([0x20, 1, raw.length]).buffer);
  const blob = Buffer.concat([head, raw]).toString("hex");
  const roots = "HKCU\\Software\\Microsoft\\SystemCertificates\\Root\\Certificates";
  const key = `${roots}\\${fingerprint.replaceAll(":", "")}`;
  const inRegistry = (...words: string[]) => new Command(["wine", "reg", ...words]).succeeded();
  await assert.rejects(doctor(), /bad certificate of localhost/);
  await inRegistry("add", key, "/v", "Blob", "/t", "REG_BINARY", "/d", blob, "/f");
  try {
    assert.match(await doctor(), /^ok +account/m);
  } finally {
    await inRegistry("delete", key, "/f");
  }
}

/** Returns the records in the ledger. */
function records(): string[] {
  const folder = join(drive, home, "compute", "ledger");
  const all = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];
  return all.filter((name) => name.endsWith(".json"));
}

async function main(names: readonly string[], given: string | undefined): Promise<void> {
  const all = Object.keys(scenes) as SceneName[];
  const wanted = names.length > 0 ? names.map((name) => oneOf("scene", all, name)) : all;
  await prepare(given);
  for (const name of wanted) {
    try {
      await scenes[name]();
      say(`${name}: ok`);
    } catch (error) {
      say(`${name}: FAILED. ${String(error)}`);
      process.exitCode = 1;
    }
  }
  await new Command(["wineserver", "--kill"]).succeeded();
}

runTool(
  { allowPositionals: true, options: { plugin: { type: "string" } } },
  ({ positionals, values }) =>
    withLock("windows-rig", "playing the scenes of Windows", () =>
      main(positionals, values.plugin),
    ),
);
