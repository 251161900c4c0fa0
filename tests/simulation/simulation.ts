/**
 * A simulation of one service and one machine on virtual time. The tests of many instances and of shared tokens use
 * it to count requests and seconds.
 */
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

/** A simulation with more events than this counts as endless. An `up` of a thousand instances needs fewer. */
const maxEvents = 1_000_000;

/** One run of Pulumi: a plugin process, and the engine that started it. */
export interface Run {
  plugin: PluginProcess;
  engine: Engine;
  warnings: string[];
  /** The status messages, which the CLI shows in the Info column. */
  statuses: string[];
}

/** A service, a machine and a stack. All latencies come from one seed. */
export class Simulation implements Disposable {
  readonly timeline = new Timeline(maxEvents);
  readonly service;
  readonly stack = new Stack("dev");
  /** Returns the fault of a request. A test may replace it. */
  faultFor: (sent: SentRequest) => Fault | undefined = () => undefined;
  /** The number of POSTs that the service has acted on. */
  servedPosts = 0;
  /** The number of list requests that the service has acted on. */
  servedListRequests = 0;
  /**
   * The highest number of instances in PROVISIONING. It is sampled at every tenth POST, because counting takes time.
   */
  maxProvisioning = 0;
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
    if (method === "GET" && path.startsWith("/v2/instances")) this.servedListRequests++;
    if (method !== "POST" || ++this.servedPosts % 10 > 0) return;
    const instances = this.service.control.instances();
    const provisioning = instances.filter(({ status }) => status === "PROVISIONING").length;
    this.maxProvisioning = Math.max(this.maxProvisioning, provisioning);
  }

  /** Starts a new process of the plugin, with an engine of its own. */
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
    const configuration = propertyMap({
      baseUrl: "https://compute.example/v2",
      apiToken: new Secret("sk_test_acme_canary1"),
      destroyPath,
      ...settings,
    });
    run.engine = new Engine(stack, run.plugin.calls, configuration, {
      pause: () => Promise.resolve(),
      saves: () => true,
      randomSeed: () => this.#random.bytes(32),
      newScope: () => `scope-${name}`,
    });
    return run;
  }

  /** Lets virtual time pass until the operation has ended, and returns its result. */
  async runUntilEnd<T>(operation: Promise<T>): Promise<T> {
    let isOver = false;
    const ended = () => void (isOver = true);
    operation.then(ended, ended);
    await this.timeline.run(() => isOver);
    return operation;
  }

  /** Lets virtual time pass until `condition` returns true. */
  async until(condition: () => boolean): Promise<void> {
    await this.timeline.run(condition);
  }

  async up(program: Program, settings: Record<string, PropertyValue> = {}): Promise<Run> {
    const run = this.begin(settings);
    await this.runUntilEnd(run.engine.up(program));
    return run;
  }
  async refresh(settings: Record<string, PropertyValue> = {}): Promise<Run> {
    const run = this.begin(settings);
    await this.runUntilEnd(run.engine.refresh());
    return run;
  }
  async destroy(settings: Record<string, PropertyValue> = {}): Promise<Run> {
    const run = this.begin(settings);
    await this.runUntilEnd(run.engine.destroy());
    return run;
  }

  /** The virtual seconds since the beginning. */
  get seconds(): number {
    return this.timeline.now / 1000;
  }
  /** The ids of all instances of the service. */
  get ids(): string[] {
    return this.service.control.instances().map(({ id }) => id);
  }
  /** The number of POSTs that have reached the service. */
  get posts(): number {
    return this.service.control.counts()["POST /v2/instances"] ?? 0;
  }
  /** The list requests so far, in order: "first" or "next" page, or the status to which the request limits the list. */
  get pages(): string[] {
    return this.service.control
      .requests()
      .filter(({ method, path }) => method === "GET" && path === "/v2/instances")
      .map(({ query }) => query["status"] ?? ("starting_after" in query ? "next" : "first"));
  }
  /** The number of requests that got a 429. */
  get refused(): number {
    return this.service.control.requests().filter(({ status }) => status === 429).length;
  }

  [Symbol.dispose](): void {
    this.service.close();
  }
}

/** A program of `count` instances. */
export function program(count: number, prefix = "web"): Program {
  const inputs: PropertyMap = propertyMap({
    ...{ flavorId: "kvm-1", imageId: "debian-13", vpcId: "vpc-1" },
  });
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}-${n}`, inputs]));
}
