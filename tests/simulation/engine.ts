/** A model of the Pulumi engine as a provider sees it: its calls, and the state of the stack after them. */
import { InstanceUnfinished } from "../../provider/errors";
import { propertyMap, type PropertyMap } from "../../provider/pulumi/propertyValue";
import type { DiffResponse, StateReply, Provider, ReadResponse } from "../../provider/pulumi/calls";
import { instanceToken, replaceKinds } from "../../provider/pulumi/names";

export interface Held {
  name: string;
  urn: string;
  id: string;
  inputs: PropertyMap;
  outputs: PropertyMap;
  /** Why the instance is unfinished. Empty for a finished one. */
  initErrors: readonly string[];
  /** Whether each preview, `up` and destroy begins with a Read of the instance. */
  refreshBeforeUpdate: boolean;
  /** Whether the resource has been replaced, and still has to be deleted. */
  old: boolean;
  /** The name of its provider resource. */
  provider?: string;
}

/** The provider resource of what names none. */
export const defaultProvider = "default_0_1_0";

/** A provider resource as a state has it: its id, and its settings. */
export interface RecordedProvider {
  readonly scope: string;
  readonly settings: PropertyMap;
}

/** A create that was under way when a state was saved. The engine carries it on in each later run. */
export type PendingCreate = Pick<Held, "name" | "urn" | "inputs" | "provider">;

export type Calls = Pick<
  Provider,
  "configure" | "check" | "diff" | "create" | "update" | "read" | "delete" | "cancel"
>;

/** A program: the inputs of its resources, by name. */
export type Program = Readonly<Record<string, PropertyMap>>;

export class Stack {
  resources: readonly Held[] = [];
  /** The oldest first. */
  pending: readonly PendingCreate[] = [];
  /** By name. */
  providers: ReadonlyMap<string, RecordedProvider> = new Map();

  /** `onSave` gets the ids before and after each save, and those that the engine which saves has ever had. */
  constructor(
    readonly name: string,
    private readonly onSave: (
      before: string[],
      after: string[],
      known: ReadonlySet<string>,
    ) => void = () => undefined,
  ) {}

  urnOf(resource: string): string {
    return `urn:pulumi:${this.name}::project::${instanceToken}::${resource}`;
  }
  urnOfProvider(provider: string): string {
    return `urn:pulumi:${this.name}::project::pulumi:providers:compute::${provider}`;
  }
  /** `known`: the ids that the engine which saves has ever had. */
  save(resources: readonly Held[], more: Saved = {}): void {
    const { known = new Set(this.ids), pending = this.pending, providers = this.providers } = more;
    const before = this.ids;
    this.resources = resources;
    this.pending = pending;
    this.providers = providers;
    this.onSave(before, this.ids, known);
  }
  get ids(): string[] {
    return this.resources.map(({ id }) => id);
  }
}

/** What is saved besides the resources. */
interface Saved {
  known?: ReadonlySet<string>;
  pending?: readonly PendingCreate[];
  providers?: ReadonlyMap<string, RecordedProvider>;
}

export interface EngineContext {
  /** Awaited around calls and before saves. Never resolves once the engine was killed. */
  pause(): Promise<void>;
  /** Whether a save now reaches the backend. With PULUMI_SKIP_CHECKPOINTS, only the last save of a run does. */
  saves(when: SaveTime): boolean;
  randomSeed(): Uint8Array;
  /** Returns the id of a new provider resource. */
  newScope(): string;
  /** Whether the engine cancels its plugin at the end, even after a success. Some, such as 3.180, do not. */
  cancels?: boolean;
}

type SaveTime = "during the run" | "at the end";

export interface UpOptions {
  preview?: boolean;
  /** The resources to replace, by name. */
  replace?: readonly string[];
  /** As by `customTimeouts`. */
  timeoutSeconds?: number;
  /** The provider resources of the program: by the name of a resource, if it is not the default one. */
  providers?: Readonly<Record<string, string>>;
  /** `--continue-on-error` */
  continues?: boolean;
}

const emptyMap = propertyMap({});

/** One run of the engine, with a process of the plugin for each provider resource, unless it is attached to one. */
export class Engine {
  /** The steps done so far, such as "create web". */
  readonly did: string[] = [];
  readonly failed: { name: string; error: Error }[] = [];
  /** The ids that this run has begun to replace. */
  readonly replacing = new Set<string>();
  /** The instances that were refreshed. */
  readonly read = new Set<string>();
  /** By the name of a resource of the program: the id in the state, which a Diff has shown. */
  readonly compared = new Map<string, string>();
  /** Set by Ctrl-C. Then no further step begins. */
  canceled = false;
  /** The state in memory, which may be newer than the saved one. */
  #state: Held[] = [];
  #pending: PendingCreate[] = [];
  #providers = new Map<string, RecordedProvider>();
  /** The ids that were ever in it. */
  readonly #known = new Set<string>();
  /** By the name of the provider resource, once it is needed. */
  readonly #processes = new Map<string, { calls: Calls; configured: Promise<void> }>();
  #options: UpOptions = {};
  /** What has no replacement, because its create failed without an instance. */
  readonly #unreplaced = new Set<Held>();
  /** A preview saves nothing. */
  #isPreview = false;

  constructor(
    readonly stack: Stack,
    private readonly callsOf: (provider: string) => Calls,
    private readonly settings: PropertyMap,
    private readonly ctx: EngineContext,
  ) {}

  async up(program: Program, options: UpOptions = {}): Promise<void> {
    this.#options = options;
    const names = Object.keys(program);
    await this.#configure(new Set(names.map((name) => this.providerOf(name))), options.preview);
    await this.#refreshMarked(options);
    await this.#each(names, (name) => this.#goal(name, program[name] ?? emptyMap, options));
    if (options.preview === true) return this.#end();
    const dropped = this.#state.filter(
      (held) => held.old || !(held.name in program) || this.#unreplaced.has(held),
    );
    for (const held of dropped) {
      if (this.#isStopped) break;
      await this.#attempt(held.name, () => this.#delete(held, options));
    }
    this.#dropProviders(names);
    await this.#end();
  }

  async refresh(options: UpOptions = {}): Promise<void> {
    if (this.#hasNothing) return;
    await this.#configure(new Set());
    const names = this.#state.filter(({ old }) => !old).map(({ name }) => name);
    await this.#each(names, (name) => this.#refresh(name, options));
    await this.#end();
  }

  async destroy(options: UpOptions = {}): Promise<void> {
    if (this.#hasNothing) return;
    await this.#configure(new Set());
    await this.#refreshMarked(options);
    await this.#each([...this.#state], (held) => this.#delete(held, options));
    this.#dropProviders([]);
    this.#save();
    await this.#end();
  }

  async import(
    name: string,
    id: string,
    { preview = false, provider = defaultProvider } = {},
  ): Promise<void> {
    await this.#configure(new Set([provider]), preview);
    const calls = await this.#processOf(provider);
    const urn = this.stack.urnOf(name);
    await this.#each([name], async () => {
      if (this.#find(name)) throw new Error(`resource ${urn} already exists`);
      const read = await this.#read(provider, { urn, id });
      if (!read) throw new Error(`resource ${id} does not exist`);
      await calls.check(this.#checkRequest(urn, read.inputs, read.inputs));
      if (!preview) await this.#hold({ ...read, name, urn, initErrors: [], old: false, provider });
    });
    await this.#end();
  }

  /** Presses Ctrl-C. The second one, which ends the engine, is for the caller to model. */
  cancel(): void {
    this.canceled = true;
    for (const { calls } of this.#processes.values()) calls.cancel("interrupted");
  }

  /** The provider resource of a resource of the program. */
  providerOf(name: string): string {
    return this.#options.providers?.[name] ?? defaultProvider;
  }
  /** The id of that provider resource. */
  scopeOf(name: string): string | undefined {
    return this.#providers.get(this.providerOf(name))?.scope;
  }
  /** What the state in memory has. */
  get entries(): readonly Held[] {
    return this.#state;
  }

  // ── A resource ─────────────────────────────────────────────────────────────────────────────────

  async #goal(name: string, news: PropertyMap, options: UpOptions): Promise<void> {
    const urn = this.stack.urnOf(name);
    const provider = this.providerOf(name);
    const held = this.#find(name);
    if (held && options.replace?.includes(name)) return this.#replace(held, news, options);
    const wanted = await this.#checkedInputs(name, held?.inputs ?? emptyMap, news);
    if (!held) return this.#create(name, wanted, options);
    this.compared.set(name, held.id);
    const diff = await this.#diff(held, wanted);
    const kinds = Object.values(diff.detailed);
    if (kinds.some((kind) => replaceKinds.has(kind))) {
      return this.#replace(held, news, options, diff.deleteBeforeReplace);
    }
    if (kinds.length === 0 && held.initErrors.length === 0) {
      // DiffConfig of the provider never asks for a replacement, so another provider alone replaces nothing.
      if (providerIn(held) !== provider) await this.#hold({ ...held, provider });
      return void this.did.push(`same ${name}`);
    }
    this.did.push(`update ${name}`);
    const { timeoutSeconds = 0, preview = false } = options;
    const request = { ...this.#oldState(held), news: wanted, timeoutSeconds, preview };
    const calls = await this.#processOf(provider);
    await this.#callAndSave({ name, urn, provider }, held.inputs, async () => ({
      id: held.id,
      inputs: wanted,
      ...(await calls.update(request)),
    }));
  }

  async #replace(held: Held, news: PropertyMap, options: UpOptions, deleteFirst = false) {
    const { name } = held;
    const fresh = await this.#checkedInputs(name, emptyMap, news);
    this.replacing.add(held.id);
    if (options.preview === true) return this.#create(name, fresh, options);
    if (deleteFirst) await this.#delete(held, options);
    await this.#create(name, fresh, options, deleteFirst ? undefined : held);
  }

  /** `replaced` is to be deleted once the create has returned an id. */
  async #create(
    name: string,
    inputs: PropertyMap,
    options: UpOptions,
    replaced?: Held,
  ): Promise<void> {
    const { timeoutSeconds = 0, preview = false } = options;
    this.did.push(`create ${name}`);
    const urn = this.stack.urnOf(name);
    const provider = this.providerOf(name);
    const request = { urn, inputs, timeoutSeconds, preview };
    const calls = await this.#processOf(provider);
    if (preview) return void (await calls.create(request));
    const pending = { name, urn, inputs, provider };
    this.#pending.push(pending);
    this.#save();
    const markReplaced = () => {
      this.#state = this.#state.map((entry) =>
        entry === replaced ? { ...entry, old: true } : entry,
      );
    };
    await this.#callAndSave({ name, urn, provider }, inputs, async () => {
      try {
        const reply = await calls.create(request);
        markReplaced();
        return { ...reply, inputs };
      } catch (error) {
        if (error instanceof InstanceUnfinished) markReplaced();
        else if (replaced) this.#unreplaced.add(replaced);
        throw error;
      } finally {
        this.#pending = this.#pending.filter((other) => other !== pending);
      }
    });
  }

  async #delete(held: Held, { timeoutSeconds = 0 }: UpOptions): Promise<void> {
    await this.ctx.pause();
    const calls = await this.#processOf(held.provider);
    await calls.delete({ ...this.#oldState(held), timeoutSeconds });
    await this.ctx.pause();
    this.did.push(`delete ${held.name}`);
    this.#state = this.#state.filter((entry) => entry !== held);
    this.#save();
  }

  /** Reads the resources that are marked for it, as each preview, `up` and destroy does before anything else. */
  async #refreshMarked(options: UpOptions): Promise<void> {
    const marked = this.#state.filter(
      ({ refreshBeforeUpdate, old }) => !old && refreshBeforeUpdate,
    );
    await this.#each(
      marked.map(({ name }) => name),
      async (name) => {
        await this.#refresh(name, options).catch((error: unknown) => {
          if (!(error instanceof InstanceUnfinished)) throw error;
        });
      },
    );
  }

  async #refresh(name: string, options: UpOptions): Promise<void> {
    const held = this.#find(name);
    if (!held) return;
    const { urn, id, inputs, outputs, provider } = held;
    /** The engine shows changes with a Diff. */
    const compare = (read: Pick<Held, "id" | "inputs" | "outputs">) =>
      this.#diff({ ...held, ...read }, inputs, provider ?? defaultProvider);
    await this.#callAndSave(held, undefined, async () => {
      try {
        const read = await this.#read(provider, { urn, id, inputs, outputs }, options);
        this.did.push(`${read ? "read" : "gone"} ${name}`);
        this.read.add(id);
        if (read) await compare(read);
        return read;
      } catch (error) {
        if (error instanceof InstanceUnfinished) await compare({ id: error.id, ...error.state });
        throw error;
      }
    });
  }

  // ── Calls ──────────────────────────────────────────────────────────────────────────────────────

  /** Without a provider resource in the state, a refresh or destroy starts no plugin, and saves nothing. */
  get #hasNothing(): boolean {
    return this.stack.providers.size === 0;
  }

  /** Reads the state. `providers`: those of the program. */
  async #configure(providers: ReadonlySet<string>, isPreview = false): Promise<void> {
    await this.ctx.pause();
    this.#isPreview = isPreview;
    // A real engine reads the state seconds before it starts the plugin. docs/design.md says what is not promised for a run
    // that ends in between.
    this.#state = [...this.stack.resources];
    this.#pending = [...this.stack.pending];
    this.#providers = new Map(this.stack.providers);
    for (const { id } of this.#state) this.#known.add(id);
    const isNew = (provider: string) => !this.#providers.has(provider);
    if (!isPreview && [...providers].some(isNew)) {
      for (const provider of [...providers].filter(isNew))
        this.#record(provider, this.ctx.newScope());
      // The engine saves the provider resource before any other resource.
      this.#save();
    }
    for (const provider of providers) {
      const scope = this.#providers.get(provider)?.scope;
      if (!isPreview && scope !== undefined) this.#record(provider, scope);
      await this.#started(provider, scope, this.settings);
    }
  }

  #record(provider: string, scope: string): void {
    this.#providers.set(provider, { scope, settings: this.settings });
  }

  #started(provider: string, scope: string | undefined, args: PropertyMap): Promise<void> {
    const calls = this.callsOf(provider);
    const urn = this.stack.urnOfProvider(provider);
    const configured = calls.configure({ urn, scope, args });
    this.#processes.set(provider, { calls, configured });
    return configured;
  }

  /** Returns the process of a provider resource. One that the program does not have is configured with its recorded settings. */
  async #processOf(provider = defaultProvider): Promise<Calls> {
    const recorded = this.#providers.get(provider);
    if (!this.#processes.has(provider))
      await this.#started(provider, recorded?.scope, recorded?.settings ?? this.settings);
    const process = this.#processes.get(provider);
    if (!process) throw new Error(`${provider} has no process`);
    await process.configured;
    return process.calls;
  }

  /** A provider resource goes once the program no longer has it, and after the last of its resources. */
  #dropProviders(names: readonly string[]): void {
    if (this.canceled || this.failed.length > 0) return;
    const used = [...names.map((name) => this.providerOf(name)), ...this.#state.map(providerIn)];
    for (const provider of this.#providers.keys())
      if (!used.includes(provider)) this.#providers.delete(provider);
  }

  #checkRequest(urn: string, olds: PropertyMap, news: PropertyMap) {
    return { urn, olds, news, randomSeed: this.ctx.randomSeed() };
  }

  async #checkedInputs(name: string, olds: PropertyMap, news: PropertyMap): Promise<PropertyMap> {
    await this.ctx.pause();
    const calls = await this.#processOf(this.providerOf(name));
    const urn = this.stack.urnOf(name);
    const { inputs, failures } = await calls.check(this.#checkRequest(urn, olds, news));
    if (failures.length > 0) throw new Error(JSON.stringify(failures));
    return inputs;
  }

  /** `provider`: of the program, unless it is a refresh. */
  async #diff(
    held: Held,
    news: PropertyMap,
    provider = this.providerOf(held.name),
  ): Promise<DiffResponse> {
    await this.ctx.pause();
    const calls = await this.#processOf(provider);
    return calls.diff({ ...this.#oldState(held), news });
  }

  async #read(
    provider: string | undefined,
    what: Pick<Held, "urn" | "id"> & Partial<Pick<Held, "inputs" | "outputs">>,
    { timeoutSeconds = 0 }: UpOptions = {},
  ): Promise<StateReply<ReadResponse> | undefined> {
    await this.ctx.pause();
    const { urn, id, inputs = propertyMap({}), outputs = propertyMap({}) } = what;
    const calls = await this.#processOf(provider);
    return calls.read({ urn, id, inputs, outputs, timeoutSeconds });
  }

  #oldState({ urn, id, inputs, outputs }: Held) {
    return { urn, id, oldInputs: inputs, oldOutputs: outputs };
  }

  // ── The state ──────────────────────────────────────────────────────────────────────────────────

  #find(name: string): Held | undefined {
    return this.#state.find((entry) => entry.name === name && !entry.old);
  }

  /**
   * Makes a call, and saves its result in the state, also if the instance is unfinished. Its inputs are then
   * `inputsIfUnfinished`, or those in the error if that is undefined.
   */
  async #callAndSave(
    { name, urn, provider }: Pick<Held, "name" | "urn" | "provider">,
    inputsIfUnfinished: PropertyMap | undefined,
    call: () => Promise<StateReply<ReadResponse> | undefined>,
  ): Promise<void> {
    await this.ctx.pause();
    const kept = { name, urn, old: false, ...(provider !== undefined && { provider }) };
    try {
      const after = await call();
      await this.ctx.pause();
      if (after) return await this.#hold({ ...after, ...kept, initErrors: [] });
      this.#state = this.#state.filter((entry) => entry.name !== name || entry.old);
      this.#save();
    } catch (error) {
      await this.ctx.pause();
      if (error instanceof InstanceUnfinished) {
        const { id, state, lines } = error;
        const inputs = inputsIfUnfinished ?? state.inputs;
        const { outputs } = state;
        const resource = { ...kept, id, inputs, outputs };
        await this.#hold({ ...resource, initErrors: lines, refreshBeforeUpdate: true });
      }
      throw error;
    }
  }

  async #hold(held: Held): Promise<void> {
    await this.ctx.pause();
    const others = this.#state.filter((entry) => entry.name !== held.name || entry.old);
    this.#state = [...others, held];
    this.#save();
  }

  #save(when: SaveTime = "during the run"): void {
    for (const { id } of this.#state) this.#known.add(id);
    if (this.#isPreview || !this.ctx.saves(when)) return;
    const pending = [...this.#pending];
    const providers = new Map(this.#providers);
    this.stack.save([...this.#state], { known: this.#known, pending, providers });
  }

  // ── The run ────────────────────────────────────────────────────────────────────────────────────

  get #isStopped(): boolean {
    return this.canceled || (this.failed.length > 0 && this.#options.continues !== true);
  }

  /** Runs all steps at once. */
  async #each<T extends string | Held>(
    items: readonly T[],
    step: (item: T) => Promise<void>,
  ): Promise<void> {
    const runStep = async (item: T) => {
      await this.ctx.pause();
      if (this.#isStopped) return;
      await this.#attempt(typeof item === "string" ? item : item.name, () => step(item));
    };
    await Promise.all(items.map(runStep));
  }

  async #attempt(name: string, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.failed.push({ name, error: error as Error });
    }
  }

  async #end(): Promise<void> {
    if (this.ctx.cancels !== false)
      for (const { calls } of this.#processes.values()) calls.cancel("finished");
    await this.ctx.pause();
    this.#save("at the end");
  }
}

const providerIn = ({ provider = defaultProvider }: Held) => provider;
