/** Many instances, or many processes that share a token: what each run costs, to the request. */
import { startInProcess } from "../../emulator/inProcess";
import type { EmulatorOptions } from "../../emulator/options";
import {
  propertyMap,
  Secret,
  type PropertyMap,
  type PropertyValue,
} from "../../provider/propertyValue";
import { Engine, Stack, type Program } from "./engine";
import type { Fault } from "./faults";
import { Machine, PluginProcess, start } from "./machine";
import { Network, type SentRequest } from "./network";
import { Random } from "./random";
import { Timeline } from "./timeline";

export const destroyPath = "/v2/instances/{id}";
export const cursor = { cursorParameter: "starting_after" };

/** An `up` of a thousand takes that many. */
const mostEvents = 1_000_000;

export interface Run {
  plugin: PluginProcess;
  engine: Engine;
  warnings: string[];
  /** What the Info column showed. */
  statuses: string[];
}

/** The service, and one machine. All latencies come from one seed. */
export class Simulation implements Disposable {
  readonly timeline = new Timeline(mostEvents);
  readonly service;
  readonly stack = new Stack("dev");
  /** What a request faultFor. */
  faultFor: (sent: SentRequest) => Fault | undefined = () => undefined;
  /** Instances made, and list requests answered, so far. */
  made = 0;
  looks = 0;
  /** The most that were seen to be PROVISIONING; counting them costs, so not at each POST. */
  mostPending = 0;
  readonly #random = new Random(1);
  readonly #machine = new Machine(this.timeline);
  readonly #network: Network;
  #runs = 0;

  constructor(options: EmulatorOptions = {}) {
    this.service = startInProcess({
      clock: { now: () => start + this.timeline.now },
      random: this.#random.next,
      destroyPath,
      ...options,
    });
    this.#network = new Network(this.timeline, this.#random, this.service, {
      faultFor: (sent) => this.faultFor(sent),
      instanceFaultsFor: () => [],
      acted: (sent) => this.#acted(sent),
      trace: () => undefined,
    });
  }

  #acted({ method, path }: SentRequest): void {
    if (method === "GET" && path.startsWith("/v2/instances")) this.looks++;
    if (method !== "POST" || ++this.made % 10 > 0) return;
    const instances = this.service.control.instances();
    const pending = instances.filter(({ status }) => status === "PROVISIONING").length;
    this.mostPending = Math.max(this.mostPending, pending);
  }

  /** A new process of the plugin, and the engine that started it. */
  begin(settings: Record<string, PropertyValue> = {}, stack = this.stack): Run {
    const name = `r${++this.#runs}`;
    const run = { warnings: [], statuses: [] } as unknown as Run;
    const trace = (line: string) => {
      const [, kind, text = ""] = /^\S+ (\w+): (.*)/s.exec(line) ?? [];
      if (kind === "warning") run.warnings.push(text);
      if (kind === "status") run.statuses.push(text);
    };
    const ctx = { timeline: this.timeline, random: this.#random, network: this.#network, trace };
    run.plugin = new PluginProcess(ctx, this.#machine, name);
    const all = propertyMap({
      baseUrl: "https://compute.example/v2",
      apiToken: new Secret("sk_test_acme_canary1"),
      destroyPath,
      ...settings,
    });
    run.engine = new Engine(stack, run.plugin.calls, all, {
      pause: () => Promise.resolve(),
      saves: () => true,
      randomSeed: () => this.#random.bytes(32),
      newScope: () => `scope-${name}`,
    });
    return run;
  }

  /** Lets time pass until this is over. */
  async over<T>(operation: Promise<T>): Promise<T> {
    let isOver = false;
    const ended = () => void (isOver = true);
    operation.then(ended, ended);
    await this.timeline.run(() => isOver);
    return operation;
  }

  async until(what: () => boolean): Promise<void> {
    await this.timeline.run(what);
  }

  async up(program: Program, settings: Record<string, PropertyValue> = {}): Promise<Run> {
    const run = this.begin(settings);
    await this.over(run.engine.up(program));
    return run;
  }
  async refresh(settings: Record<string, PropertyValue> = {}): Promise<Run> {
    const run = this.begin(settings);
    await this.over(run.engine.refresh());
    return run;
  }
  async destroy(settings: Record<string, PropertyValue> = {}): Promise<Run> {
    const run = this.begin(settings);
    await this.over(run.engine.destroy());
    return run;
  }

  get seconds(): number {
    return this.timeline.now / 1000;
  }
  get ids(): string[] {
    return this.service.control.instances().map(({ id }) => id);
  }
  get posts(): number {
    return this.service.control.counts()["POST /v2/instances"] ?? 0;
  }
  /** The list requests so far, in their order: which page, or which status. */
  get pages(): string[] {
    return this.service.control
      .requests()
      .filter(({ method, path }) => method === "GET" && path === "/v2/instances")
      .map(({ query }) => query["status"] ?? ("starting_after" in query ? "next" : "first"));
  }
  /** 429s. */
  get refused(): number {
    return this.service.control.requests().filter(({ status }) => status === 429).length;
  }

  [Symbol.dispose](): void {
    this.service.close();
  }
}

export function program(count: number, prefix = "web"): Program {
  const inputs: PropertyMap = propertyMap({
    ...{ flavorId: "kvm-1", imageId: "debian-13", vpcId: "vpc-1" },
  });
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}-${n}`, inputs]));
}
