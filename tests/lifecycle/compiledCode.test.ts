/** Tests which processes of the built plugin leave the code that V8 has compiled, and which use it. */
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { startEmulator } from "../../emulator";
import { propertyMap, Secret } from "../../provider/pulumi/propertyValue";
import { connect, type TestClient } from "../../provider/rpc/testing/client";
import { startPlugin } from "../../provider/rpc/testing/plugin";
import { temporaryFolder } from "../../provider/testing/temporaryFolder";
import { ensureBuilt } from "../../tools/build";
import { root } from "../../tools/support/paths";
import { posixTest } from "../../tools/support/unless";
import { inputs } from "./support/stack";

beforeAll(() => ensureBuilt());

/** A plugin that was just installed. */
class Installed {
  readonly folder = temporaryFolder();
  readonly cache = join(this.folder, ".cache");

  constructor() {
    for (const file of ["start.js", "provider.js", "schema.json"])
      cpSync(join(root, "bin", file), join(this.folder, file));
  }

  /** Runs a process of the plugin, and has it end in order. */
  async run(use: (client: TestClient) => Promise<void>): Promise<void> {
    const env = { ...process.env, PULUMI_HOME: this.folder };
    const bundle = { path: join(this.folder, "start.js"), remove: () => Promise.resolve() };
    await using plugin = await startPlugin(bundle, ["127.0.0.1:1"], env);
    const client = connect(plugin.port);
    using cleanup = new DisposableStack();
    cleanup.defer(() => client.close());
    await client.handshake();
    await use(client);
    plugin.process.kill("SIGINT");
    expect(await plugin.ended).toBe("SIGINT");
  }

  /** Asks for the schema alone. */
  readSchema(): Promise<void> {
    return this.run(async (client) => void (await client.schema()));
  }

  async create(userData?: string): Promise<void> {
    await using service = await startEmulator({ provisioningSeconds: 0 });
    await this.run(async (client) => {
      const apiToken = new Secret("sk_test_1");
      await client.configure(propertyMap({ baseUrl: service.url, apiToken }));
      await client.create(await client.check({ news: inputs({ userData }) }));
    });
    expect(service.control.instances()).toHaveLength(1);
  }

  /** The only file of this stage. */
  left(stage: "created" | "started"): { path: string; bytes: number; writtenAt: number } {
    const [name = "", ...others] = readdirSync(this.cache).filter((name) => name.endsWith(stage));
    expect(others).toEqual([]);
    const path = join(this.cache, name);
    const { size, mtimeMs } = statSync(path);
    return { path, bytes: size, writtenAt: mtimeMs };
  }
}

test("the process of the first create leaves its compiled code, although an earlier one has left some, and later ones use it", async () => {
  const installed = new Installed();
  await installed.readSchema();
  const started = installed.left("started");

  await installed.create();
  const created = installed.left("created");
  expect(created.bytes).toBeGreaterThan(1.5 * started.bytes);

  // A process that did not use the code would leave its own.
  await installed.create();
  await installed.readSchema();
  expect(installed.left("created")).toEqual(created);
  expect(installed.left("started")).toEqual(started);
});

posixTest("only the owner can read or write the compiled code, whatever the umask", async () => {
  const before = process.umask(0);
  const installed = new Installed();
  await installed.readSchema();
  process.umask(before);
  const modes = [installed.cache, installed.left("started").path].map(
    (path) => statSync(path).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o600]);
});

test("what only a later process loads is added", async () => {
  const installed = new Installed();
  await installed.create();
  const { bytes } = installed.left("created");
  // The parser of YAML.
  await installed.create("#cloud-config\npackages: [nginx]\n");
  const added = installed.left("created");
  expect(added.bytes).toBeGreaterThan(bytes + 10_000);
  await installed.create("#cloud-config\npackages: [nginx]\n");
  expect(installed.left("created")).toEqual(added);
});

test.each([
  ["cut off", (code: Buffer) => code.subarray(0, 1000)],
  ["damaged, which kills V8", (code: Buffer) => Buffer.from(code).fill(0, 4096, 8192)],
])("compiled code that is %s is not used, and replaced", async (_, damage) => {
  const installed = new Installed();
  await installed.create();
  const { path, bytes } = installed.left("created");
  writeFileSync(path, damage(readFileSync(path)));
  await installed.create();
  const { bytes: after } = installed.left("created");
  expect(after).toBeGreaterThan(bytes / 2);
  expect(readFileSync(path).subarray(4096, 8192).equals(Buffer.alloc(4096))).toBe(false);
});
