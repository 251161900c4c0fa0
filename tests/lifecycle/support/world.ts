/** The service, a Pulumi home, a stack, and as many runs of the plugin as a test wants. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { startEmulator, type Emulator, type EmulatorOptions } from "../../../emulator";
import { systemClock } from "../../../provider/clock";
import { discard } from "../../../provider/commands/discard";
import { typed } from "../../../provider/commands/testing/typed";
import { ledgerFolder } from "../../../provider/ledger/folder";
import { Ledger } from "../../../provider/ledger/ledger";
import { isOpen, type LedgerRecord } from "../../../provider/ledger/record";
import { isMap, type PropertyValue } from "../../../provider/property/value";
import { Plugin, type Settings } from "./plugin";
import { Stack, type Program, type Run } from "./stack";
import { until } from "./until";

/** G8: no test may ever see these anywhere, which each world looks for at its end. */
export const testToken = "sk_test_CanaryTokenZ7Q9vB";
export const liveToken = "sk_live_CanaryTokenX3W8kP";
export const otherTenant = "sk_test_other_CanaryTokenM5N2";
export const userData = "#!/bin/sh\necho CanaryUserDataH6J1\n";
const canaries = ["CanaryToken", "CanaryUserData", Buffer.from(userData).toString("base64")];

export class World {
  readonly stack = new Stack();
  readonly homes = [this.newHome()];
  readonly plugins: Plugin[] = [];

  constructor(readonly service: Emulator) {}

  get home(): string {
    return this.homes.at(-1) ?? "";
  }
  newHome(): string {
    return mkdtempSync(join(tmpdir(), "compute-lifecycle-"));
  }
  get ledger(): string {
    return ledgerFolder({ PULUMI_HOME: this.home });
  }

  /** What the ledger holds by now, of all sessions. */
  get records(): LedgerRecord[] {
    const warn = (text: string) => {
      throw new Error(text);
    };
    const ledger = new Ledger(this.ledger, "reader", warn, systemClock);
    return ledger.read().map(({ record }) => record);
  }
  /** The creates of which nothing has shown yet what became of them. */
  get pending(): LedgerRecord[] {
    return this.records.filter(isOpen);
  }

  /** As a person types it. */
  async discard(key: string): Promise<void> {
    const { code, warnings } = await typed(discard, [key], { PULUMI_HOME: this.home });
    if (code !== 0) throw new Error(warnings.join("\n"));
  }

  /** A new process, as each `pulumi up` starts one. */
  async plugin(settings: Settings = {}, speed = 1): Promise<Plugin> {
    const required = { baseUrl: this.service.url, apiToken: testToken };
    const { scope } = this.stack;
    const plugin = await Plugin.start(this.home, { ...required, ...settings }, { scope, speed });
    this.plugins.push(plugin);
    return plugin;
  }

  /** The end of a run as every engine makes it: Cancel, with no call running. */
  async leave(plugin = this.plugins.at(-1)): Promise<void> {
    if (plugin?.alive) await plugin.client.cancel();
  }

  /** Nobody listens any more, and the plugin has met that. */
  async refuseConnections(plugin: Plugin): Promise<void> {
    await this.service.refuseConnections();
    await until(() => plugin.said(/the connection to .* was refused/));
  }

  /** A run of one resource that ends by Ctrl-C, once the instance is accepted and waited for. */
  async leaveUnfinished(plugin: Plugin, program: Program): Promise<Run> {
    const running = this.stack.up(plugin, program);
    await until(() => plugin.said(/PROVISIONING/));
    await plugin.client.cancel();
    return running;
  }

  /** `kill -9`; the plugins after it find what it left on the disk. */
  kill(plugin: Plugin): void {
    this.homes.push(this.newHome());
    plugin.kill(this.home);
  }

  get posts(): number {
    return this.service.counts()["POST /v2/instances"] ?? 0;
  }
  get listings(): number {
    return this.service.counts()["GET /v2/instances"] ?? 0;
  }
  /** From the first request to the last. */
  get seconds(): number {
    const at = this.service.control.requests().map((request) => request.at);
    return (Math.max(...at) - Math.min(...at)) / 1000;
  }
  get instances() {
    return this.service.control.instances();
  }
  get ids(): string[] {
    return this.instances.map(({ id }) => id);
  }
  /** That many instances of somebody else in the same tenant. */
  crowd(count: number, tokenKind: "live" | "test" = "test"): void {
    for (let n = 0; n < count; n++)
      this.service.control.insert({ name: `crowd-${n}`, id: `i-crowd-${n}`, tokenKind });
  }

  /** Nothing lost, nothing twice: each instance is in the state, and no other is. */
  expectAllHeld(): void {
    expect([...this.ids].sort()).toEqual([...this.stack.ids].sort());
  }

  expectNoCanary(): void {
    const seen = [
      ...this.plugins.flatMap(({ logged }) => logged.map(({ message }) => message)),
      ...this.stack.told,
      ...[...this.stack.resources.values()].flatMap((held) => [
        ...clear(held.inputs),
        ...clear(held.outputs),
      ]),
      ...this.homes.flatMap(filesIn).map((path) => path + readFileSync(path, "latin1")),
    ];
    for (const canary of canaries) expect(seen.filter((text) => text.includes(canary))).toEqual([]);
  }

  async close(): Promise<void> {
    for (const plugin of this.plugins) plugin.stop();
    await this.service.close();
    for (const home of this.homes) rmSync(home, { recursive: true, force: true });
  }
}

export async function withWorld(
  options: EmulatorOptions,
  body: (world: World) => Promise<void>,
): Promise<void> {
  const service = await startEmulator({ provisioningSeconds: 0, ...options });
  const world = new World(service);
  try {
    await body(world);
    world.expectNoCanary();
  } finally {
    await world.close();
  }
}

/** Every text that the state would hold in clear. */
function clear(value: PropertyValue): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(clear);
  if (isMap(value)) return Object.values(value).flatMap(clear);
  return [];
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
