/** The world of a lifecycle test: an emulator, a Pulumi home, a stack, and any number of plugins. */
import { expect, test as jestTest } from "@jest/globals";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { startEmulator, type Emulator, type EmulatorOptions } from "../../../emulator";
import { ledgerFolder } from "../../../provider/ledger/folder";
import type { LedgerRecord } from "../../../provider/ledger/record";
import { isMap, type PropertyValue } from "../../../provider/pulumi/propertyValue";
import { openLedger } from "../../../provider/testing/ledgerRecord";
import { startPlugin, type Plugin, type PluginOptions, type Settings } from "./plugin";
import { Stack } from "./stack";

/** The tokens of these tests. Each test ends with a check that no such token appears anywhere (G8). */
export const testToken = "sk_test_CanaryTokenZ7Q9vB";
export const liveToken = "sk_live_CanaryTokenX3W8kP";

export class World implements AsyncDisposable {
  readonly stack = new Stack();
  readonly home = mkdtempSync(join(tmpdir(), "compute-lifecycle-"));
  readonly plugins: Plugin[] = [];

  constructor(readonly service: Emulator) {}

  get ledger(): string {
    return ledgerFolder({ PULUMI_HOME: this.home });
  }

  /** The records of the creates in doubt. */
  get inDoubt(): LedgerRecord[] {
    return openLedger(this.ledger)
      .all()
      .map(({ record }) => record);
  }

  /** The environment in which a person types a command. By default, no `pulumi` is on PATH. */
  env(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    const { home, service } = this;
    const own = { PATH: "", PULUMI_HOME: home, COMPUTE_BASE_URL: service.url };
    return { ...own, COMPUTE_API_TOKEN: testToken, ...more };
  }

  /** Starts a plugin, as each `pulumi up` does. A setting that is null is left to the environment. */
  async plugin(settings: Settings = {}, options: PluginOptions = {}): Promise<Plugin> {
    const all = { baseUrl: this.service.url, apiToken: testToken, ...settings };
    const { scope } = this.stack;
    const plugin = await startPlugin(this.home, all, { scope, ...options });
    this.plugins.push(plugin);
    return plugin;
  }

  get posts(): number {
    return this.service.control.counts()["POST /v2/instances"] ?? 0;
  }
  get listings(): number {
    return this.service.control.counts()["GET /v2/instances"] ?? 0;
  }
  get instances() {
    return this.service.control.instances();
  }
  get ids(): string[] {
    return this.instances.map(({ id }) => id);
  }
  /** Adds instances of another user in the same tenant. */
  crowd(count: number): void {
    for (let n = 0; n < count; n++)
      this.service.control.insert({ name: `crowd-${n}`, id: `i-crowd-${n}` });
  }

  /** Expects that the state contains exactly the instances that exist, each once. */
  expectAllHeld(): void {
    expect([...this.ids].sort()).toEqual([...this.stack.ids].sort());
  }

  /** Expects that no message, state or file contains a token. */
  expectNoCanary(): void {
    const seen = [
      ...this.plugins.flatMap(({ logged }) => logged.map(({ message }) => message)),
      ...this.stack.shownErrors,
      ...[...this.stack.resources.values()].flatMap((held) => [
        ...plainStrings(held.inputs),
        ...plainStrings(held.outputs),
      ]),
      ...filesIn(this.home).map((path) => path + readFileSync(path, "latin1")),
    ];
    expect(seen.filter((text) => text.includes("CanaryToken"))).toEqual([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(() => rmSync(this.home, { recursive: true, force: true }));
    cleanup.use(this.service);
    for (const plugin of this.plugins) cleanup.defer(() => plugin.stop());
  }
}

/** Runs a test in a world of its own. */
export async function withWorld(
  options: EmulatorOptions,
  body: (world: World) => Promise<void>,
): Promise<void> {
  const service = await startEmulator({ provisioningSeconds: 0, ...options });
  await using world = new World(service);
  await body(world);
  world.expectNoCanary();
}

/** A test in a world of its own. */
export function test(
  title: string,
  body: (world: World) => Promise<void>,
  options: EmulatorOptions = {},
): void {
  jestTest(title, () => withWorld(options, body));
}

/** Every string that the state would contain unencrypted. */
function plainStrings(value: PropertyValue): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(plainStrings);
  if (isMap(value)) return Object.values(value).flatMap(plainStrings);
  return [];
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
/** Waits until `condition` returns true. @throws if it does not within 300 s, since the machine may be busy */
export async function until(condition: () => boolean): Promise<void> {
  for (const end = performance.now() + 300_000; !condition(); await setTimeout(10))
    if (performance.now() > end) throw new Error(`never came true: ${String(condition)}`);
}
