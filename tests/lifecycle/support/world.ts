/** The service, a Pulumi home, a stack, and as many runs of the plugin as a test wants. */
import { expect } from "@jest/globals";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulator, type Emulator, type EmulatorOptions } from "../../../emulator";
import { systemClock } from "../../../provider/clock";
import { ledgerFolder } from "../../../provider/ledger/folder";
import { Ledger } from "../../../provider/ledger/ledger";
import { isPending, type LedgerRecord } from "../../../provider/ledger/record";
import { isMap, type PropertyValue } from "../../../provider/propertyValue";
import { Plugin, type Settings } from "./plugin";
import { Stack } from "./stack";

/** G8: no test may ever see these anywhere, which each world looks for at its end. */
export const testToken = "sk_test_CanaryTokenZ7Q9vB";
export const liveToken = "sk_live_CanaryTokenX3W8kP";
export const userData = "#!/bin/sh\necho CanaryUserDataH6J1\n";
const canaries = ["CanaryToken", "CanaryUserData", Buffer.from(userData).toString("base64")];

export class World {
  readonly stack = new Stack();
  readonly home = mkdtempSync(join(tmpdir(), "compute-lifecycle-"));
  readonly plugins: Plugin[] = [];

  constructor(readonly service: Emulator) {}

  get ledger(): string {
    return ledgerFolder({ PULUMI_HOME: this.home });
  }

  /** The creates of which nothing has shown yet what became of them. */
  get pending(): LedgerRecord[] {
    const warn = (text: string) => {
      throw new Error(text);
    };
    const ledger = new Ledger(this.ledger, "reader", warn, systemClock);
    return ledger
      .read()
      .map(({ record }) => record)
      .filter(isPending);
  }

  /** A new process, as each `pulumi up` starts one. */
  async plugin(settings: Settings = {}, speed = 1): Promise<Plugin> {
    const required = { baseUrl: this.service.url, apiToken: testToken };
    const { scope } = this.stack;
    const plugin = await Plugin.start(this.home, { ...required, ...settings }, { scope, speed });
    this.plugins.push(plugin);
    return plugin;
  }

  get posts(): number {
    return this.service.counts()["POST /v2/instances"] ?? 0;
  }
  get listings(): number {
    return this.service.counts()["GET /v2/instances"] ?? 0;
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
      ...filesIn(this.home).map((path) => path + readFileSync(path, "latin1")),
    ];
    for (const canary of canaries) expect(seen.filter((text) => text.includes(canary))).toEqual([]);
  }

  async close(): Promise<void> {
    for (const plugin of this.plugins) plugin.stop();
    await this.service.close();
    rmSync(this.home, { recursive: true, force: true });
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
/** Waits for what has to come, and says so if it never does; on a busy machine it may take its time. */
export async function until(what: () => boolean, seconds = 300): Promise<void> {
  for (const end = performance.now() + seconds * 1000; !what(); await pause(10))
    if (performance.now() > end) throw new Error(`never came true: ${String(what)}`);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((go) => setTimeout(go, milliseconds));
}
