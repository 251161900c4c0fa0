/**
 * Plays a history and returns the promises that it broke. After its runs, all faults end, and a person types `settle`, and
 * `up` until it changes nothing.
 */
import {
  startInProcess,
  type InProcessResponse,
  type InProcessEmulator,
} from "../../emulator/inProcess";
import type { InstanceFault } from "../../emulator/faults/kinds";
import { matchesPattern } from "../../emulator/pattern";
import { recordsIn } from "../../cli/records";
import { InstanceUnfinished } from "../../provider/errors";
import { propertyMap, reveal, Secret, type PropertyMap } from "../../provider/pulumi/propertyValue";
import { settleCommand } from "../../provider/advice";
import { partialNotice } from "../../provider/create/reports";
import type { Found } from "../../provider/ledger/record";
import { tokenHash, type Origin } from "../../provider/origin";
import { defaultProvider, Engine, Stack, type Calls, type Held, type Program } from "./engine";
import { faultNamed, hidingFaults, hidingMs, type Fault } from "./faults";
import type { End, History, RequestKind, RunPlan, Words } from "./history";
import { PromiseChecker, type Made, type Poster } from "./promiseChecker";
import { Machine, PluginProcess, start } from "./machine";
import { Network, type SentRequest } from "./network";
import { Random } from "./random";
import { settle } from "./settle";
import { Timeline } from "./timeline";

const secrets = { token: "CanaryTokenZ7Q9vB", userData: "CanaryUserDataH6J1" };
const baseUrl = "https://compute.example/v2";
const script = `#!/bin/sh\necho ${secrets.userData}\n`;
/** This long after its POST, every listing is expected to show an instance. */
const settlingMs = 60_000;
const resourceNames = ["web", "db", "queue"];
const maxRunMs = 60 * 60_000;
/** The longest pause of the model of the engine. */
const maxPauseMs = 2000;

interface Run extends Poster {
  name: string;
  stack: Stack;
  machine: Machine;
  /** One for each provider resource that the engine needs. */
  plugins: PluginProcess[];
  /** How many steps they have made. */
  steps: number;
  engine: Engine;
  /** Whether its engine has attached to the plugin, which then goes on without it. */
  isAttached: boolean;
  isEngineAlive: boolean;
  /** Its engine has ended or died. */
  isOver: boolean;
  startedAt: number;
  saves: number;
  metFaults: Set<string>;
  inDoubt: Set<string>;
  /** Requests so far. */
  counts: Record<RequestKind, number>;
  /** By the name of the instance. */
  urns: Map<string, string>;
  deletes: Set<string>;
}

export interface Outcome {
  violations: readonly string[];
  figures: PromiseChecker["figures"];
  runs: number;
}

/** What the emulators get from the history that is played. */
const played = { now: () => 0, random: () => 0, maxProvisioningSeconds: 0 };

/** An emulator for each list order. Each history resets it, which is quicker than a new one. */
const services = new Map<History["listOrder"], InProcessEmulator>();

function emptyService(listOrder: History["listOrder"]): InProcessEmulator {
  const service =
    services.get(listOrder) ??
    startInProcess({
      listOrder,
      clock: { now: () => played.now() },
      random: () => played.random(),
      destroyPath: "/v2/instances/{id}",
      cursorParameter: "starting_after",
      provisioningSeconds: () => played.maxProvisioningSeconds * played.random(),
    });
  services.set(listOrder, service);
  service.reset();
  return service;
}

/** `trace` is called with a line for each event. */
export async function runHistory(
  history: History,
  trace?: (line: string) => void,
): Promise<Outcome> {
  return await new HistoryRun(history, trace).play();
}

class HistoryRun {
  readonly #history: History;
  readonly #trace: ((line: string) => void) | undefined;
  readonly #timeline = new Timeline();
  readonly #random: Random;
  readonly #service: InProcessEmulator;
  readonly #network: Network;
  readonly #machines = [new Machine(this.#timeline), new Machine(this.#timeline)];
  readonly #stacks: Stack[];
  readonly #checker: PromiseChecker;
  readonly #runs: Run[] = [];
  /** The run that has sent a request. When the service acts on it, another run may be attached to the process. */
  readonly #runOf = new WeakMap<SentRequest, Run>();
  /** The last run on each machine whose engine has attached to a plugin. */
  readonly #lastAttached = new Map<Machine, Run>();
  /** The plugin of that run. */
  readonly #attachedTo = new Map<Machine, PluginProcess>();
  readonly #messages: string[] = [];
  #areFaultsOver = false;
  /** The URNs of the creates that the last `settle` has left to `up`. */
  readonly #left = new Set<string>();
  /** The URNs of which it has only named an instance, which a person has left as it is. */
  readonly #named = new Set<string>();
  /** What a person types before each `up` in the end: the ways out that were printed. */
  #words: Words = {};
  /** Whether a person has read that no listing can show an instance, and knows that the service has no cursor. */
  #isNoCursorSet = false;
  /** When each run has met its hiding fault first. */
  readonly #hidingSince = new WeakMap<Run, number>();
  #scopes = 0;
  /** The ids of the instances whose port has answered. */
  readonly #reached = new Set<string>();
  /** By address. Waits ask for a port once a second, and to look at the instances each time takes a tenth of all histories. */
  readonly #ports = new Map<string, { id: string; opensAt: number }>();

  constructor(history: History, trace: ((line: string) => void) | undefined) {
    this.#history = history;
    this.#trace = trace;
    this.#random = new Random(history.seed);
    const now = () => this.#timeline.now;
    Object.assign(played, {
      now: () => start + now(),
      random: this.#random.next,
      maxProvisioningSeconds: history.provisioningSeconds,
    });
    this.#service = emptyService(history.listOrder);
    const onSave: ConstructorParameters<typeof Stack>[1] = (...save) =>
      this.#checker.onSave(...save);
    this.#stacks = [new Stack("dev", onSave), new Stack("prod", onSave)];
    this.#checker = new PromiseChecker(this.#service, this.#stacks, now);
    this.#network = new Network(this.#timeline, this.#random, this.#service, {
      faultFor: (sent) => this.#faultFor(sent),
      instanceFaultsFor: (sent) => this.#instanceFaultsFor(sent),
      acted: (sent, answer) => this.#acted(sent, answer),
      portAnswers: (address) => this.#portAnswers(address),
      trace: (line) => this.#tell(line),
    });
  }

  async play(): Promise<Outcome> {
    const history = this.#history;
    const tokenKind = history.live ? "live" : "test";
    for (let n = 0; n < history.otherInstances; n++)
      this.#service.control.insert({ name: `other-${n}`, id: `i-other-${n}`, tokenKind });
    try {
      for (const plan of history.runs) await this.#playRun(plan);
      await this.#waitForAllRuns();
      await this.#recover();
      const isFileLost = ({ disk, urn }: Made) => {
        const machine = this.#machines.find((one) => one.disk === disk);
        return !machine || machine.ledger().find(urn)?.kind === "unreadable";
      };
      this.#checker.onEnd(this.#files(), isFileLost);
    } catch (error) {
      this.#checker.violated(`${(error as Error).message}`);
    }
    for (const canary of Object.values(secrets)) {
      if (this.#messages.some((text) => text.includes(canary)))
        this.#checker.violated("a message contains a secret");
    }
    this.#checkUserData();
    const { violations, figures } = this.#checker;
    for (const violation of violations) this.#tell(`VIOLATION ${violation}`);
    return { violations, figures, runs: this.#runs.length };
  }

  /** Each server has its script, which no ledger holds, and with `hash` no state either. */
  #checkUserData(): void {
    for (const { id, request } of this.#service.control.instances()) {
      const got = Buffer.from(request?.user_data ?? "", "base64").toString();
      if (this.#checker.made.has(id) && got !== script)
        this.#checker.violated(`${id} was made without its script`);
    }
    const kept: object[] = this.#files();
    if (this.#history.userDataInState === "hash") {
      const held = this.#stacks.flatMap(({ resources }) => resources);
      kept.push(...held.map(({ inputs, outputs }) => reveal({ inputs, outputs }) as object));
    }
    if (JSON.stringify(kept).includes(secrets.userData))
      this.#checker.violated("a state or a ledger holds the user data");
  }

  /** What the ledgers of all machines have in doubt. */
  #files(): Found[] {
    return this.#machines.flatMap((machine) => machine.ledger().all());
  }

  // ── Runs ───────────────────────────────────────────────────────────────────────────────────────

  async #playRun(plan: RunPlan): Promise<void> {
    const last = this.#runs.at(-1);
    if (plan.besideAfterMs === undefined || !last) {
      await this.#waitForAllRuns();
      await this.#timeline.pass(this.#random.oneIn(2) ? 500 : 100_000);
    } else await this.#timeline.pass(plan.besideAfterMs);
    const stack = this.#stacks[plan.stack] as Stack;
    const machine = this.#machines[plan.machine] as Machine;
    // The backend locks a stack, so the second run is left out, except after `pulumi cancel`.
    const locking = this.#runs.filter((run) => run.stack === stack && !run.isOver);
    const isAllowed = plan.cancelsLock && locking.every((run) => run.machine === machine);
    if (locking.length > 0 && !isAllowed) return;
    await this.#actBefore(plan, stack);
    const run = this.#begin(stack, machine, { plan, typed: plan.words });
    const program = this.#program(plan);
    const { timeoutSeconds, continues } = plan;
    const options = { timeoutSeconds, continues, providers: this.#providers(plan.provider) };
    const operation = {
      up: () => run.engine.up(program, options),
      "up --replace": () =>
        run.engine.up(program, { ...options, replace: Object.keys(program).slice(0, 1) }),
      preview: () => run.engine.up(program, { ...options, preview: true }),
      refresh: () => run.engine.refresh(options),
      destroy: () => run.engine.destroy(options),
    }[plan.operation];
    this.#start(run, operation);
  }

  #begin(stack: Stack, machine: Machine, { plan, typed }: { plan?: RunPlan; typed: Words }): Run {
    const name = `r${this.#runs.length + 1}`;
    const [timeline, random] = [this.#timeline, this.#random];
    const isAttached = this.#attaches(machine);
    const policies = this.#policies(plan, isAttached ? typed : {});
    // What is typed does not reach a process that runs already.
    const words = isAttached ? {} : typed;
    const run: Run = {
      name,
      stack,
      machine,
      plugins: [],
      steps: 0,
      plan,
      urns: new Map(),
      disk: machine.disk,
      isAttached,
      isEngineAlive: true,
      isOver: false,
      startedAt: timeline.now,
      saves: 0,
      metFaults: new Set(),
      reportedPartial: false,
      inDoubt: new Set(),
      live: this.#history.live,
      words,
      ...policies,
      counts: { account: 0, list: 0, post: 0, delete: 0 },
      deletes: new Set(),
      engine: new Engine(
        stack,
        (provider) => this.#checkedCalls(attached ?? this.#plugin(run, provider), run),
        this.#settings(policies, plan),
        {
          pause: () =>
            new Promise((resolve) => {
              timeline.after(random.between(1, random.oneIn(10) ? maxPauseMs : 30), () => {
                if (run.isEngineAlive) resolve();
              });
            }),
          saves: (when) => this.#saves(run, when),
          randomSeed: () => random.bytes(32),
          newScope: () => `scope-${++this.#scopes}`,
          cancels: !isAttached || this.#history.attached !== "without a Cancel",
        },
      ),
    };
    this.#tell(
      `${name} begins: ${plan ? JSON.stringify(plan) : `without faults ${JSON.stringify(words)}`}`,
    );
    if (isAttached) this.#lastAttached.set(machine, run);
    this.#runs.push(run);
    const attached = isAttached ? this.#plugin(run, defaultProvider) : undefined;
    return run;
  }

  /** Starts the process of a provider resource, or attaches the engine to one. */
  #plugin(run: Run, provider: string): PluginProcess {
    const { name, machine, plan, words, isAttached } = run;
    const [timeline, random, network] = [this.#timeline, this.#random, this.#network];
    const trace = (line: string) => this.#tell(line);
    const ofProvider = provider === defaultProvider ? name : `${name}/${provider}`;
    const attached = isAttached ? this.#attachedTo.get(machine) : undefined;
    const isReused = attached?.alive === true;
    const ctx = { timeline, random, network, trace, words, engineAddress: name };
    const plugin = isReused ? attached : new PluginProcess(ctx, machine, ofProvider);
    plugin.onMessage = (text) => {
      run.reportedPartial ||= text === partialNotice;
      this.#onMessage(text, run);
    };
    plugin.onFound = ({ id, name }) => {
      for (const found of [id, name]) if (found !== undefined) run.inDoubt.add(found);
    };
    plugin.onStep = () => {
      if (plan?.end && ++run.steps === plan.end.step) this.#interrupt(run, plan.end.how, plugin);
    };
    if (isReused) {
      this.#tell(`${name} attaches to the plugin ${plugin.name}`);
      plugin.attach(name);
    }
    if (isAttached) this.#attachedTo.set(machine, plugin);
    run.plugins.push(plugin);
    machine.processes.add(plugin);
    return plugin;
  }

  /** A plugin serves no other engine during a run, so a person then lets the engine start its own. */
  #attaches(machine: Machine): boolean {
    const isServing =
      this.#attachedTo.get(machine)?.alive === true &&
      this.#lastAttached.get(machine)?.isOver === false;
    return this.#history.attached !== "no" && !isServing;
  }

  #start(run: Run, operation: () => Promise<void>): void {
    const onEnd = () => {
      this.#tell(`${run.name} has ended: ${run.engine.did.join(", ")}`);
      for (const { name, error } of run.engine.failed) {
        this.#onMessage(error.message, run, name);
      }
      run.isOver = true;
      if (!run.isAttached) for (const plugin of run.plugins) plugin.signal();
    };
    operation().then(onEnd, (error: unknown) => {
      run.engine.failed.push({ name: "", error: error as Error });
      onEnd();
    });
  }

  /** @throws if a run takes longer than `maxRunMs` */
  async #waitForAllRuns(): Promise<void> {
    await this.#timeline.run(() => {
      const endless = this.#runs.find(
        (run) => !run.isOver && this.#timeline.now - run.startedAt > maxRunMs,
      );
      if (endless) throw new Error(`${endless.name} does not end`);
      return this.#runs.every(({ isOver }) => isOver);
    });
  }

  /** `plugin`: whose step it was. */
  #interrupt(run: Run, how: End, plugin: PluginProcess): void {
    this.#tell(`${run.name}: ${how}`);
    const endEngine = (ended: Run) => {
      ended.isEngineAlive = false;
      ended.isOver = true;
    };
    const { machine, plugins } = run;
    switch (how) {
      case "Ctrl-C":
      case "Ctrl-C twice":
      case "engine killed":
        // A signal arrives between two steps of the process.
        return this.#timeline.after(0, () => {
          if (run.isOver) return;
          if (how !== "engine killed") run.engine.cancel();
          if (how === "Ctrl-C") return;
          endEngine(run);
          for (const each of plugins) {
            if (run.isAttached) each.detach();
            else each.orphan();
          }
        });
      case "plugin killed":
        return plugin.kill();
      case "runner killed":
        if (!run.isOver) endEngine(run);
        return plugins.forEach((each) => each.kill());
      case "power cut":
      case "machine gone":
        this.#runs.filter((other) => other.machine === machine && !other.isOver).forEach(endEngine);
        for (const process of machine.processes) process.kill();
        machine.processes.clear();
        if (how === "power cut") return machine.disk.powerCut(this.#random.next);
        machine.disk = machine.newDisk();
    }
  }

  /** Does what a person does before the run. */
  async #actBefore({ before, machine }: RunPlan, stack: Stack): Promise<void> {
    if (before === "nothing") return;
    if (before !== "removed one" && before !== "renamed one") await this.#waitForAllRuns();
    if (before === "settled") return this.#settleAll(stack);
    if (before === "settled here")
      return this.#settleAll(stack, { machines: [this.#machines[machine] as Machine] });
    if (before === "twinned") return this.#twin(stack);
    if (before === "clock ahead" || before === "clock back") {
      // All clocks change together, after the settling time of every instance: a machine that is an hour ahead would
      // take a new instance for an old one.
      await this.#timeline.pass(settlingMs);
      for (const machine of this.#machines) {
        machine.aheadMs += before === "clock ahead" ? 3_600_000 : -3_600_000;
      }
      return;
    }
    const held = this.#stacks.flatMap(({ ids }) => ids);
    const candidates = [...this.#checker.made.values()].filter(
      ({ id }) => this.#checker.isAlive(id) && (before === "removed one" || held.includes(id)),
    );
    // Something may still serve in place of what has replaced it.
    const replacing = candidates.filter(({ id, urn, stack: its }) =>
      its.resources.some((one) => one.urn === urn && one.old && one.id !== id),
    );
    const among = replacing.length > 0 ? replacing : candidates;
    const chosen = among[Math.floor(this.#random.next() * among.length)];
    if (!chosen) return;
    this.#tell(`a person ${before}: ${chosen.id}`);
    switch (before) {
      case "removed one":
        return this.#remove(chosen, "removed at the portal");
      case "renamed one":
        return void this.#service.control.rename(chosen.id, `renamed-${chosen.id}`);
      case "stopped one":
        return void this.#service.control.setStatus(chosen.id, "OFFLINE");
      case "broke one":
        return void this.#service.control.setStatus(chosen.id, "ERROR");
    }
  }

  #twin(stack: Stack): void {
    const [held] = stack.resources.filter(({ old }) => !old);
    if (!held) return;
    this.#tell(`the state has ${held.id} twice`);
    stack.save([{ ...held, old: true }, ...stack.resources]);
  }

  #remove(made: Made, why: string): void {
    made.letGo = why;
    made.removedAt = this.#timeline.now;
    this.#service.control.remove(made.id);
  }

  // ── The calls of the engine ────────────────────────────────────────────────────────────────────

  /** The checker gets each id that the engine gets. */
  #checkedCalls({ calls }: PluginProcess, run: Run): Calls {
    const onId = (urn: string, id: string) => this.#checker.onIdReturned(urn, run.stack, id, run);
    return {
      ...calls,
      create: async (request) => {
        run.urns.set(JSON.stringify(reveal(request.inputs["name"] ?? null)), request.urn);
        try {
          const reply = await calls.create(request);
          if (!request.preview) onId(request.urn, reply.id);
          if (reply.outputs["ipv4"] === "0.0.0.0")
            this.#checker.violated(`${reply.id} was ready with an address that stands for none`);
          if (!request.preview) this.#checkPort(reply.id, reply.outputs, request.inputs, run);
          return reply;
        } catch (error) {
          if (error instanceof InstanceUnfinished) onId(request.urn, error.id);
          throw error;
        }
      },
      read: async (request) => {
        const reply = await calls.read(request);
        const wasUnfinished = request.outputs?.["__unfinished"] === true;
        if (reply && wasUnfinished) this.#checkPort(reply.id, reply.outputs, undefined, run);
        return reply;
      },
      update: async (request) => {
        const reply = await calls.update(request);
        const wasUnfinished = request.oldOutputs["__unfinished"] === true && !request.preview;
        if (wasUnfinished) this.#checkPort(request.id, reply.outputs, request.news, run);
        return reply;
      },
      delete: async (request) => {
        run.deletes.add(request.id);
        await calls.delete(request);
        const made = this.#checker.made.get(request.id);
        const isKept =
          run.plan?.operation !== "destroy" &&
          run.engine.entries.some(({ id, old }) => id === request.id && !old);
        if (made && this.#checker.isAlive(request.id) && !isKept)
          made.letGo = "retained by a Delete with a warning";
      },
    };
  }

  /** The answer of each port that is tried. */
  #portAnswers(address: string): boolean {
    const port = this.#ports.get(address) ?? this.#findPort(address);
    if (!port || this.#timeline.now < port.opensAt) return false;
    if (this.#service.control.instance(port.id)?.status !== "ACTIVE") return false;
    this.#reached.add(port.id);
    return true;
  }

  #findPort(address: string): { id: string; opensAt: number } | undefined {
    const found = this.#service.control
      .instances()
      .find(({ ipv4_public, networks }) =>
        [ipv4_public, ...networks.map(({ ipv4 }) => ipv4)].includes(address),
      );
    if (!found) return undefined;
    const { portSeconds = 0 } = this.#history;
    const opensAt = Date.parse(found.created_at) - start + portSeconds * 1000;
    const port = { id: found.id, opensAt };
    this.#ports.set(address, port);
    return port;
  }

  /**
   * An instance is finished only once its port has answered, if the program waits for one. `inputs` are those of the program,
   * if the call has them.
   */
  #checkPort(
    id: string,
    outputs: PropertyMap,
    inputs: PropertyMap | undefined,
    { metFaults }: Run,
  ): void {
    const port = outputs["waitForPort"] ?? null;
    if (inputs && port !== (inputs["waitForPort"] ?? null))
      this.#checker.violated(`${id} was ready with another port than the program's`);
    const isAwaited = typeof port === "number";
    if (!isAwaited || this.#reached.has(id) || metFaults.has("ids that change")) return;
    this.#checker.violated(`${id} was ready, although its port had not answered`);
  }

  #saves(run: Run, when: "during the run" | "at the end"): boolean {
    const { plan } = run;
    if (plan?.saves === "at the end") return when === "at the end";
    return run.saves++ === 0 || plan?.saves !== "the first only";
  }

  #program({ version, port }: { version: number; port: number | undefined }): Program {
    const history = this.#history;
    const isAwaited = history.portSeconds !== undefined && port !== undefined;
    const names = resourceNames.slice(0, history.resources);
    return Object.fromEntries(
      names.map((name) => [
        name,
        propertyMap({
          flavorId: `kvm-${version}`,
          imageId: "debian-13",
          vpcId: "vpc-1",
          userData: new Secret(script),
          ...(history.names === "explicit" ? { name: `${name}-1` } : {}),
          ...(isAwaited ? { waitForPort: port } : {}),
        }),
      ]),
    );
  }

  /** `words`: what the person sets in the configuration. */
  #policies(plan: RunPlan | undefined, words: Words): Pick<Run, "leftovers" | "deletePolicy"> {
    const history = this.#history;
    const { COMPUTE_LEFTOVERS: leftovers, COMPUTE_DELETE_POLICY: deletePolicy } = words;
    return {
      leftovers: leftovers ?? history.leftovers,
      deletePolicy: deletePolicy ?? plan?.deletePolicy ?? history.deletePolicy,
    };
  }

  /** By the name of a resource: the provider resource, if it is not the default one. */
  #providers(provider: RunPlan["provider"]): Record<string, string> {
    // An engine that attaches has one process for all.
    if (this.#history.attached !== "no" || provider === defaultProvider) return {};
    const names = provider === "default_0_2_0" ? resourceNames : resourceNames.slice(0, 1);
    return Object.fromEntries(names.map((name) => [name, provider]));
  }

  get #apiToken(): string {
    return `sk_${this.#history.live ? "live" : "test"}_acme_${secrets.token}`;
  }

  #settings(
    { leftovers, deletePolicy }: Pick<Run, "leftovers" | "deletePolicy">,
    plan: RunPlan | undefined,
  ): PropertyMap {
    const history = this.#history;
    return propertyMap({
      baseUrl,
      apiToken: new Secret(this.#apiToken),
      deletePolicy,
      refreshBeforeUpdate: history.refreshBeforeUpdate,
      userDataInState: this.#userDataInState(plan),
      ...(leftovers === undefined ? {} : { leftovers }),
      ...(deletePolicy === "destroy" ? { destroyPath: "/v2/instances/{id}" } : {}),
      ...(history.cursor === "set" ? { cursorParameter: "starting_after" } : {}),
      ...(this.#isNoCursorSet ? { cursorParameter: "none" } : {}),
    });
  }

  #userDataInState(plan: RunPlan | undefined): "secret" | "hash" {
    const { userDataInState } = this.#history;
    if (userDataInState !== "changes") return userDataInState;
    if (plan === undefined) return "hash";
    return this.#runs.length % 2 === 0 ? "secret" : "hash";
  }

  // ── The service ────────────────────────────────────────────────────────────────────────────────

  /** Called when the request is sent. */
  #faultFor(sent: SentRequest): Fault | undefined {
    const run = this.#runs.findLast(({ plugins }) => plugins.some((one) => one === sent.sender));
    if (!run) return undefined;
    this.#runOf.set(sent, run);
    const cursor = new URLSearchParams(sent.path.split("?")[1]).get("starting_after");
    if (cursor !== null && this.#isCursorBroken) return this.#pageAfter(cursor);
    if (this.#areFaultsOver) return undefined;
    const kind = kindOf(sent);
    const nth = run.counts[kind]++;
    const scripted = run.plan?.faults.find(
      (fault) => fault.at === kind && fault.nth <= nth && nth < fault.nth + fault.times,
    );
    if (!scripted) return undefined;
    if (scripted.fault in hidingFaults && !this.#mayHide(run)) return undefined;
    const fault = faultNamed(scripted.fault);
    const played = fault.kind === "existingId" ? this.#withKnownId(fault, run) : fault;
    if (played) run.metFaults.add(scripted.fault);
    return played;
  }

  get #isCursorBroken(): boolean {
    return !["set", "usual"].includes(this.#history.cursor);
  }

  /** What a service without the usual cursor answers to it. The last one says that the list ends there. */
  #pageAfter(cursor: string): Fault {
    const all = this.#service.control.instances();
    const page = (data: readonly object[], has_more: boolean): Fault => ({
      kind: "body",
      text: JSON.stringify({ object: "list", data, has_more }),
    });
    const { cursor: kind } = this.#history;
    if (kind === "refused") return { kind: "status", status: 400, acted: false };
    if (kind === "ignored") return page(all.slice(0, 100), true);
    const byId = all.filter(({ id }) => id > cursor).sort((a, b) => (a.id < b.id ? -1 : 1));
    return page(byId.slice(0, 100), false);
  }

  /** A list may lack what exists once, or with a live token for a while. */
  #mayHide(run: Run): boolean {
    const since = this.#hidingSince.get(run);
    if (since !== undefined) return this.#history.live && this.#timeline.now - since < hidingMs;
    this.#hidingSince.set(run, this.#timeline.now);
    return true;
  }

  /** Returns the fault with one instance that the provider can know. Undefined if there is none. */
  #withKnownId(fault: Extract<Fault, { kind: "existingId" }>, run: Run): Fault | undefined {
    const { instance = "*" } = fault;
    const candidates = this.#service.control
      .instances()
      .filter(({ name }) => matchesPattern(instance, name))
      .filter(({ id }) => this.#checker.isKnown(id, run));
    const chosen = candidates[Math.floor(this.#random.next() * candidates.length)];
    return chosen && { ...fault, instance: chosen.id };
  }

  #instanceFaultsFor({ method }: SentRequest): InstanceFault[] {
    const { lagSeconds } = this.#history;
    if (method !== "POST" || lagSeconds === 0 || this.#areFaultsOver) return [];
    return [{ kind: "appearsAfter", seconds: this.#random.between(0, lagSeconds) }];
  }

  #acted(sent: SentRequest, answer: InProcessResponse): void {
    const { method, path, body } = sent;
    const run = this.#runOf.get(sent);
    if (!run) return;
    if (method === "POST" && answer.acted) {
      const name = nameIn(body);
      // A fault may have answered with another instance's id.
      const id = this.#service.control.instances().at(-1)?.id ?? "";
      const urn = run.urns.get(JSON.stringify(name)) ?? "";
      const { stack, disk } = run;
      const listedFrom = this.#timeline.now + this.#history.lagSeconds * 1000;
      const made = {
        id,
        name,
        urn,
        stack,
        disk,
        listedFrom,
        namedBy: new Set<object>(),
        passed: new Set<string>(),
        others: new Set<string>(),
      };
      const isRecorded = this.#files().some(
        ({ record }) => record.urn === urn && record.at !== undefined,
      );
      const isDiskLost = disk !== run.machine.disk;
      this.#checker.onCreate(
        {
          ...made,
          saves: run.plan?.saves ?? "each step",
          isOverwritten: false,
          isUnnoticed: false,
        },
        run,
        isDiskLost ? undefined : isRecorded,
      );
    }
    if (method === "DELETE" && answer.status < 300) {
      this.#checker.onDestroy(path.split("/").at(-1) ?? "", run);
    }
  }

  // ── People ─────────────────────────────────────────────────────────────────────────────────────

  /** Ends all faults. A person then types `settle`, and `up` until it finds nothing to do. */
  async #recover(): Promise<void> {
    this.#areFaultsOver = true;
    played.maxProvisioningSeconds = 0;
    await this.#timeline.pass(20 * 60_000);
    for (const { id, status } of this.#service.control.instances()) {
      if (status !== "OFFLINE") this.#service.control.setStatus(id, "ACTIVE");
    }
    for (const stack of this.#stacks) {
      if (!this.#runs.some((run) => run.stack === stack)) continue;
      const { version, provider } = this.#lastProgram(stack);
      await this.#settleAll(stack);
      await this.#upUntilUnchanged(stack, version, provider);
      await this.#settleAll(stack, { until: "what is left" });
      if (!stack.ids.every((id) => this.#checker.isAlive(id))) {
        await this.#runWithoutFaults(stack, (engine) => engine.refresh());
        await this.#upUntilUnchanged(stack, version, provider);
      }
      for (let n = 1; n <= this.#history.deployments; n++)
        await this.#upUntilUnchanged(stack, version + 10 * n, n === 1 ? provider : "own");
    }
  }

  #lastProgram(stack: Stack): Pick<RunPlan, "version" | "provider"> {
    const ups = this.#runs.filter(
      (run) => run.stack === stack && run.plan?.operation.startsWith("up"),
    );
    return ups.at(-1)?.plan ?? { version: 1, provider: defaultProvider };
  }

  /** Runs `up` and follows its errors until nothing changes. */
  async #upUntilUnchanged(
    stack: Stack,
    version: number,
    provider: RunPlan["provider"],
  ): Promise<void> {
    const program = this.#program({ version, port: 22 });
    const providers = this.#providers(provider);
    let problem = "";
    this.#words = this.#history.leftovers === "fail" ? { COMPUTE_LEFTOVERS: "warn" } : {};
    for (let round = 0; round < 6; round++) {
      const { engine } = await this.#runWithoutFaults(stack, (its) =>
        its.up(program, { providers }),
      );
      const { did, failed } = engine;
      const changes = did.filter((what) => !/^(same|read) /.test(what));
      problem = [...changes, ...failed.map(({ error }) => error.message)].join("; ");
      if (problem === "") return;
      await this.#followAdvice(engine);
      if (/`pulumi (refresh|up --refresh)`/.test(problem))
        await this.#runWithoutFaults(stack, (its) => its.refresh());
    }
    this.#checker.violated(`${stack.name} never reaches an \`up\` without changes: ${problem}`);
  }

  async #runWithoutFaults(
    stack: Stack,
    operation: (engine: Engine) => Promise<void>,
  ): Promise<Run> {
    const run = this.#begin(stack, this.#machines[0] as Machine, { typed: this.#words });
    this.#start(run, () => operation(run.engine));
    await this.#waitForAllRuns();
    return run;
  }

  /**
   * Starts each instance that is OFFLINE, or sets the policy. After `settle`, no `up` stops for what is in doubt, but for what that
   * has left to it.
   */
  async #followAdvice(engine: Engine): Promise<void> {
    const { failed, stack } = engine;
    const messages = failed.map(({ error }) => error.message).join("\n");
    const paths = [...messages.matchAll(/\((\S+\.json)\)/g)];
    for (const [, path = ""] of paths) {
      this.#tell(`a person removes ${path}`);
      for (const machine of this.#machines) machine.remove(path);
    }
    const isStopped = ({ error }: (typeof failed)[number]) =>
      error.message.includes(settleCommand());
    if (paths.length === 0 && failed.some(isStopped)) {
      if (this.#left.size + this.#named.size > 0)
        await this.#settleAll(stack, { until: "what is left" });
      // Without a Diff, a create does not know what a person has let run.
      else if (failed.some((one) => isStopped(one) && engine.compared.has(one.name)))
        this.#checker.violated(
          `an \`up\` stops although \`settle\` has found nothing: ${messages}`,
        );
      else this.#words = { ...this.#words, COMPUTE_LEFTOVERS: "warn" };
    }
    const offline = /(\S+) is (?:OFFLINE, so its port|not ready \(OFFLINE\))/g;
    for (const [, id = ""] of messages.matchAll(offline)) {
      this.#tell(`a person starts ${id}`);
      this.#service.control.setStatus(id, "ACTIVE");
    }
    if (messages.includes("COMPUTE_DELETE_POLICY=retain"))
      this.#words = { ...this.#words, COMPUTE_DELETE_POLICY: "retain" };
    if (messages.includes("compute:cursorParameter=none")) this.#isNoCursorSet = true;
  }

  // ── `settle` ───────────────────────────────────────────────────────────────────────────────────

  /** Types `settle` for the stack on each machine, until nothing is in doubt, or also nothing left to `up`. */
  async #settleAll(
    stack: Stack,
    { until, machines = this.#machines }: { until?: "what is left"; machines?: Machine[] } = {},
  ): Promise<void> {
    // Listings then show each instance.
    await this.#timeline.pass(2 * settlingMs);
    this.#left.clear();
    this.#named.clear();
    for (const machine of machines) await this.#settleOn(machine, stack, until);
    if (stack.pending.length > 0 && this.#left.size === 0)
      this.#checker.violated(`${stack.name} has pending creates after \`settle\``);
  }

  async #settleOn(machine: Machine, stack: Stack, until?: "what is left"): Promise<void> {
    for (const plugin of machine.processes) if (!this.#isServing(plugin)) plugin.kill();
    const forgets = new Set<string>();
    for (let round = 0; round < 4; round++) {
      this.#tell(`a person settles ${stack.name}`);
      const inDoubt = [...stack.pending, ...recordsIn(machine.ledger(), true)].map(
        ({ urn }) => urn,
      );
      const settled = this.#settleOnce(machine, stack, forgets);
      const { exitCode, questions, left, givenUp, named } = settled;
      for (const id of named) this.#checker.made.get(id)?.namedBy.add(forgets);
      for (const { urn, id } of settled.letRun)
        this.#checker.noteLetRun(id, this.#heldAt(stack, urn)?.id ?? "");
      for (const id of givenUp) {
        const made = this.#checker.made.get(id);
        if (made) made.letGo ??= "given up in a sandbox";
      }
      if (exitCode === 3)
        return this.#checker.violated("`settle` finds a run under way, and there is none");
      const decided = until
        ? [...questions, ...left.map((urn) => ({ urn, why: until }))]
        : questions;
      const isCreatedNext = (urn: string) => inDoubt.includes(urn) && !this.#heldAt(stack, urn);
      if (exitCode === 0 && questions.some(({ urn }) => isCreatedNext(urn)))
        this.#checker.violated("`settle` ends with 0 before an `up` that stops");
      const isLeftAlone = exitCode === 0 && !until && this.#random.oneIn(2);
      if (isLeftAlone) for (const { urn } of questions) this.#named.add(urn);
      if (isLeftAlone || decided.length === 0) return left.forEach((urn) => this.#left.add(urn));
      for (const { urn, why } of decided) {
        this.#tell(`  ${urn}: ${why}`);
        await this.#decide(stack, urn);
        forgets.add(urn);
      }
    }
    this.#checker.violated(`\`settle\` never finds that nothing is in doubt in ${stack.name}`);
  }

  #isServing(plugin: PluginProcess): boolean {
    return this.#runs.some((run) => run.plugins.includes(plugin) && !run.isOver);
  }

  #settleOnce(machine: Machine, stack: Stack, forgets: ReadonlySet<string>) {
    const { live } = this.#history;
    const origin: Origin = {
      baseUrl,
      tokenKind: live ? "live" : "test",
      tokenHash: tokenHash({ apiToken: this.#apiToken, baseUrl }),
    };
    // What a Delete has retained is meant to run on, but a state that could not be saved still has it.
    const isLetGo = (id: string) => this.#checker.made.get(id)?.letGo !== undefined;
    const listed = this.#service.control
      .instances()
      .filter(({ id }) => !isLetGo(id) || stack.ids.includes(id))
      .map(({ id, name, status }) => ({ id, name, status }));
    const before = stack.resources;
    const settled = settle({ stack, stacks: this.#stacks, machine, listed, origin, forgets });
    this.#checkPut(stack, before);
    return settled;
  }

  #heldAt(stack: Stack, urn: string): Held | undefined {
    return stack.resources.find((held) => held.urn === urn && !held.old);
  }

  /** What comes into the state is the resource's own, and takes the place of nothing that serves. */
  #checkPut(stack: Stack, before: readonly Held[]): void {
    for (const { urn, id } of stack.resources) {
      if (before.some((held) => held.id === id)) continue;
      this.#checker.onIdReturned(urn, stack, id, { metFaults: new Set() });
      // What the killed run was told about a name that other stacks may share is in no file.
      if (this.#history.names === "explicit") this.#checker.forgetAnswers(id);
      const replaced = before.find((held) => held.urn === urn && !held.old);
      if (replaced && this.#checker.isAlive(replaced.id))
        this.#checker.violated(`\`settle\` lets ${id} take the place of ${replaced.id}`);
    }
  }

  /** A person knows which run has created what. The instance is imported or, if the state has another one, removed. */
  async #decide(stack: Stack, urn: string): Promise<void> {
    const isFree = ({ id, letGo }: Made) =>
      this.#checker.isAlive(id) &&
      letGo === undefined &&
      !this.#stacks.some(({ ids }) => ids.includes(id));
    const free = [...this.#checker.made.values()].filter(
      (made) => made.stack === stack && made.urn === urn && isFree(made),
    );
    const taken = this.#heldAt(stack, urn);
    const imported = taken ? undefined : free.pop();
    // `--forget` then notes what it shows.
    const isLetRun = taken !== undefined && this.#random.oneIn(2);
    for (const made of free) {
      if (isLetRun) this.#checker.letRun(made.id, taken.id);
      else this.#remove(made, "removed at the portal, since the state has another");
    }
    if (!imported) return;
    this.#tell(`a person imports ${imported.id}`);
    // What its create has noted was in the state that was lost.
    this.#checker.forgetAnswers(imported.id);
    const name = urn.split("::").at(-1) ?? "";
    const { provider } = this.#lastProgram(stack);
    await this.#runWithoutFaults(stack, (engine) =>
      engine.import(name, imported.id, { provider: this.#providers(provider)[name] }),
    );
  }

  #onMessage(text: string, run: Run, resource = ""): void {
    this.#tell(`${resource} message: ${text}`);
    this.#messages.push(text);
    this.#checker.onMessage(text, run);
  }

  #tell(line: string): void {
    this.#trace?.(`${(this.#timeline.now / 1000).toFixed(3)} ${line}`);
  }
}

/** Returns the name in the body of a POST. */
function nameIn(body = "{}"): string {
  return (JSON.parse(body) as { name: string }).name;
}

function kindOf({ method, path }: SentRequest): RequestKind {
  if (method === "POST") return "post";
  if (method === "DELETE") return "delete";
  return path.startsWith("/v2/account") ? "account" : "list";
}
