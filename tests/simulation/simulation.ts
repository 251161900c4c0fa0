/** One service and one machine on virtual time, to count the requests and seconds of many instances. */
import { startInProcess } from "../../emulator/inProcess";
import type { EmulatorOptions } from "../../emulator/options";
import type { LedgerRecord } from "../../provider/ledger/record";
import {
  propertyMap,
  Secret,
  type PropertyMap,
  type PropertyValue,
} from "../../provider/pulumi/propertyValue";
import { Engine, Stack, type Calls, type Program } from "./engine";
import type { Fault } from "./faults";
import { Machine, PluginProcess, start } from "./machine";
import { Network, type SentRequest } from "./network";
import { Random } from "./random";
import { Timeline } from "./timeline";

const destroyPath = "/v2/instances/{id}";
export const cursor = { cursorParameter: "starting_after" };

/** An endless simulation has more events. An `up` of a thousand instances has fewer. */
const maxEvents = 1_000_000;

export interface Run {
  plugin: PluginProcess;
  engine: Engine;
  warnings: string[];
  /** What the CLI shows in the Info column. */
  statuses: string[];
}

/** All latencies come from one seed. */
export class Simulation implements Disposable {
  readonly timeline = new Timeline(maxEvents);
  readonly service;
  readonly stack = new Stack("dev");
  /** A test may replace it. */
  faultFor: (sent: SentRequest) => Fault | undefined = () => undefined;
  /** Requests that the service has acted on. */
  servedPosts = 0;
  servedListRequests = 0;
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
      portAnswers: () => true,
      trace: () => undefined,
    });
  }

  #acted({ method, path }: SentRequest): void {
    if (method === "GET" && path.startsWith("/v2/instances")) this.servedListRequests++;
    if (method === "POST") this.servedPosts++;
  }

  /** Begins a run with a new process of the plugin. */
  begin(
    settings: Record<string, PropertyValue> = {},
    stack = this.stack,
    wrap = (calls: Calls): Calls => calls,
    saves: (nth: number) => boolean = () => true,
  ): Run {
    const name = `r${++this.#runs}`;
    let saveCount = 0;
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
    const calls = wrap(run.plugin.calls);
    // Also a refresh and a destroy have them, as after an `up` that has recorded them.
    const recorded = [...stack.providers].map(
      ([provider, { scope }]) => [provider, { scope, settings: configuration }] as const,
    );
    stack.providers = new Map(recorded);
    run.engine = new Engine(stack, () => calls, configuration, {
      pause: () => Promise.resolve(),
      saves: () => saves(++saveCount),
      randomSeed: () => this.#random.bytes(32),
      newScope: () => `scope-${name}`,
    });
    return run;
  }

  async until(condition: () => boolean): Promise<void> {
    await this.timeline.run(condition);
  }

  /** Plays one run to its end. */
  async run(
    operation: (engine: Engine) => Promise<void>,
    settings: Record<string, PropertyValue> = {},
  ): Promise<Run> {
    const run = this.begin(settings);
    await this.timeline.untilEnd(operation(run.engine));
    return run;
  }

  get seconds(): number {
    return this.timeline.now / 1000;
  }
  /** The records of the creates in doubt. */
  get records(): LedgerRecord[] {
    return this.#machine
      .ledger()
      .all()
      .map(({ record }) => record);
  }
  get ids(): string[] {
    return this.service.control.instances().map(({ id }) => id);
  }
  /** The POSTs that have reached the service. */
  get posts(): number {
    return this.service.control.counts()["POST /v2/instances"] ?? 0;
  }
  /** The list requests so far: "first" or "next" page, or the status that was asked for. */
  get pages(): string[] {
    return this.service.control
      .requests()
      .filter(({ method, path }) => method === "GET" && path === "/v2/instances")
      .map(({ query }) => query["status"] ?? ("starting_after" in query ? "next" : "first"));
  }
  get refused(): number {
    return this.service.control.requests().filter(({ status }) => status === 429).length;
  }

  [Symbol.dispose](): void {
    this.service.close();
  }
}

export function program(count: number, prefix = "web"): Program {
  const inputs: PropertyMap = propertyMap({
    flavorId: "kvm-1",
    imageId: "debian-13",
    vpcId: "vpc-1",
  });
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}-${n}`, inputs]));
}
