/**
 * The provider and its real client against the emulator, over real sockets, with time that flies: a
 * minute of waiting for the rate limit takes no time, and the same minute passes at both ends.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { startEmulator, type Emulator, type EmulatorOptions } from "../../../emulator";
import { systemDisk } from "../../../provider/ledger/files";
import {
  propertyMap,
  Secret,
  type PropertyMap,
  type PropertyValue,
} from "../../../provider/property/value";
import { createProvider } from "../../../provider/provider";
import type { Provider } from "../../../provider/requests";
import { VirtualClock } from "../../../provider/testing/virtualClock";
import { Cleaner } from "../../../provider/text";
import { inputs as required, urnOf } from "./stack";
import { testToken } from "./world";

interface Made {
  urn: string;
  id: string;
  inputs: PropertyMap;
  outputs: PropertyMap;
  /** The second at which Create was answered. */
  at: number;
}

/** One plugin's worth of provider: what a process has, without the process. */
export class Runner {
  readonly warnings: string[] = [];
  readonly made: Made[] = [];
  private readonly provider: Provider;

  constructor(
    readonly clock: VirtualClock,
    home: string,
  ) {
    const ignore = () => undefined;
    const warning = (text: string) => void this.warnings.push(text);
    this.provider = createProvider({
      messages: { status: ignore, info: ignore, debug: ignore, warning },
      cleaner: new Cleaner(),
      clock,
      env: { PULUMI_HOME: home },
    });
  }

  async configure(settings: Record<string, PropertyValue>): Promise<void> {
    const scope = { kind: "known", id: "a-provider" } as const;
    await this.provider.configure({ scope, args: propertyMap(settings) });
  }

  /** So many resources, created at the same moment. */
  async up(prefix: string, count: number): Promise<void> {
    const names = Array.from({ length: count }, (_, n) => `${prefix}-${n}`);
    await Promise.all(names.map((name) => this.create(urnOf(name))));
  }

  private async create(urn: string): Promise<void> {
    const news = required();
    const randomSeed = randomBytes(32);
    const check = { urn, olds: propertyMap({}), news, randomSeed };
    const { inputs } = await this.provider.check(check);
    const request = { urn, inputs, timeoutSeconds: 0, preview: false };
    const { id, outputs } = await this.provider.create(request);
    this.made.push({ urn, id, inputs, outputs, at: this.clock.now() / 1000 });
  }

  /** Every one of them read, at the same moment; the ids that are still there. */
  async refresh(): Promise<string[]> {
    const read = await Promise.all(
      this.made.map((it) => this.provider.read({ ...it, timeoutSeconds: 0 })),
    );
    return read.flatMap((it) => (it ? [it.id] : []));
  }

  async destroy(): Promise<void> {
    await Promise.all(
      this.made.map(({ urn, id, inputs, outputs }) =>
        this.provider.delete({
          ...{ urn, id, oldInputs: inputs, oldOutputs: outputs },
          timeoutSeconds: 0,
        }),
      ),
    );
    this.made.length = 0;
  }
}

export class VirtualWorld implements AsyncDisposable {
  readonly clock = new VirtualClock();
  private readonly home = mkdtempSync(join(tmpdir(), "compute-virtual-"));
  private readonly traffic = new Traffic();
  private readonly syncs = new Syncs();
  private readonly moving: Disposable;

  private constructor(readonly service: Emulator) {
    const { traffic, syncs } = this;
    const isIdle = () => traffic.underWay === 0 && syncs.underWay === 0;
    this.moving = this.clock.autoAdvance({ isIdle });
  }

  static async create(options: EmulatorOptions): Promise<VirtualWorld> {
    let now = () => Date.UTC(2026, 0, 1);
    const service = await startEmulator({ clock: { now: () => now() }, ...options });
    const world = new VirtualWorld(service);
    now = () => world.clock.date().getTime();
    return world;
  }

  async runner(settings: Record<string, PropertyValue> = {}): Promise<Runner> {
    const runner = new Runner(this.clock, this.home);
    const apiToken = new Secret(testToken);
    await runner.configure({ baseUrl: this.service.url, apiToken, ...settings });
    return runner;
  }

  get seconds(): number {
    return this.clock.now() / 1000;
  }
  refused(): number {
    return this.service.control.requests().filter(({ status }) => status === 429).length;
  }
  /** POSTs that made an instance. */
  acted(): number {
    const posts = this.service.control.requests().filter(({ method }) => method === "POST");
    return posts.filter(({ acted, status }) => acted && status === 202).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.moving[Symbol.dispose]();
    this.traffic[Symbol.dispose]();
    this.syncs[Symbol.dispose]();
    await this.service.close();
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Counts what undici has under way, so that no time passes meanwhile. */
class Traffic implements Disposable {
  underWay = 0;
  private readonly begun = () => void this.underWay++;
  private readonly done = () => void this.underWay--;
  private readonly listeners = [
    ["undici:request:create", this.begun],
    ["undici:request:trailers", this.done],
    ["undici:request:error", this.done],
  ] as const;

  constructor() {
    for (const [name, listener] of this.listeners) subscribe(name, listener);
  }
  [Symbol.dispose](): void {
    for (const [name, listener] of this.listeners) unsubscribe(name, listener);
  }
}

/** Counts what the ledger has under way on the disk, so that no time passes meanwhile. */
class Syncs implements Disposable {
  underWay = 0;
  private readonly sync = systemDisk.sync.bind(systemDisk);

  constructor() {
    systemDisk.sync = async (file) => {
      this.underWay++;
      try {
        await this.sync(file);
      } finally {
        // The sync of a new file's folder follows.
        setTimeout(() => this.underWay--, 20);
      }
    };
  }
  [Symbol.dispose](): void {
    systemDisk.sync = this.sync;
  }
}
