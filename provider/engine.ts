/**
 * The run of an engine: what each of its calls is about, and how the run ended. The engine tells a provider neither. This file
 * infers both from the order and the content of the calls.
 *
 * The facts, as of engine 3.276, and from 3.180 on. Where versions differ, the fact says from which on. (The changes of 3.274
 * are not in 3.260.) The files are those of `pkg/resource/deploy` in github.com/pulumi/pulumi.
 *
 * - The engine has one process for each provider resource, and new ones for a preview and for the update after it.
 * - CheckConfig comes first if a program gives the settings. Without a program (a destroy, refresh or import without
 *   `--run-program`, and the start of `up --refresh`), only Configure comes, with the settings that the state has recorded. The
 *   provider resource of `pulumi do` without a stack has an empty name. From 3.274 on, an error of Configure ends the run, also for
 *   other providers. Before, it failed only what needed the provider.
 * - Check comes for each resource that the program registers, unless `--target` leaves it out (`generateSteps` in
 *   step_generator.go), and after the Read of an import (`ImportStep.Apply` in step.go). Before a replacement it comes once more,
 *   without old inputs, whatever the reason is (`replaceOnChanges` is a reason that the provider does not know).
 * - Diff comes in four cases: after the Check of a resource that the state has (`diff` in step_generator.go); after the Read of a
 *   refresh (`RefreshStep.Apply`), with the sides exchanged; after the Read of an import by the resource option and the Check that
 *   follows it (`pulumi import` sends no Diff); and for each dependent of a resource that is deleted before its replacement
 *   (`calculateDependentReplacements`). Only the Diff of a dependent has unknown inputs without a Check. If it says that the
 *   dependent is replaced, the engine deletes the dependent without another Diff.
 * - `--replace` and `pulumi state taint` send Check and Create, and no Diff. From 3.274 on, the same calls come for a resource that is
 *   `deletedWith` a replaced one. (No Delete comes of what is deleted with another resource, in any version.)
 * - Read has the inputs and outputs of the state in a refresh (`RefreshStep.Apply`), and no inputs in the refresh of what a `.get()` has
 *   read. It has neither in an import, in a `.get()` (`ReadStep.Apply`), in `pulumi do` and, from 3.274 on, in `exists`, where a resource
 *   is named `__exists__N` (`ExistsResource` in source_eval.go). If the program gives a `.get()` a state, the Read has this state as
 *   inputs and as outputs. Before 3.274, some of these Reads have empty maps in place of none.
 * - From 3.274 on, the Read of a `.get()` is left out of a preview if something in its `dependsOn` is created or replaced.
 * - Create and Update of a preview also come in an update, from 3.274 on: for what `--continue-on-error` skips, because what it depends
 *   on has failed (`dryRunOutputs` in step.go). Their inputs may be the program's, which no Check has seen, and an error reaches nobody.
 * - Create, Update and Delete come again if they fail and an error hook of the program asks for it (retries.go). Before the 100th
 *   failure, the engine saves the id and the outputs of the last answer, and a plain error has none. After it, the engine asks no
 *   hook, and loses the id (Create) or the outputs (Update) that earlier failures had. After a failed Update, the state has the old
 *   inputs with the outputs of the answer. From 3.274 on, a Create that has failed with an id comes again as an Update with this id,
 *   the outputs of the last answer, and the time-out of a create. A plain error then makes the engine drop the resource.
 * - Delete comes only in an update, never in a preview, and after the Create of a replacement, unless the Diff or the program asks
 *   for it before. It has the URN of the state: the old URN, if an alias renames the resource. If an instance was deleted before its
 *   replacement, and the Create of the replacement fails, no second Delete comes.
 * - A replacement may also give the resource another provider. Then the process of the new provider gets all calls up to the Create,
 *   and the Delete comes to a process that begins for it, with recorded settings. (Another provider alone replaces nothing.)
 * - From 3.274 on, without a call: state migrations (before the Diffs), the waits of what `--target` leaves out (`waitURNs`), and the
 *   removal of what is pending replacement, whose Delete has come before (`RemovePendingReplaceStep`).
 * - Cancel comes after Ctrl-C, and at the end of each run. (At the end, 3.180 sends only SIGINT.) What is said after it is shown from
 *   3.231 on.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type {
  CancelReason,
  CheckRequest,
  DeleteRequest,
  DiffRequest,
  ReadRequest,
} from "./pulumi/calls";
import type { Settings } from "./config/settings";
import type { ProviderContext } from "./context";
import type { Instance } from "./instance/instance";
import { Once } from "./once";
import type { Origin } from "./origin";
import { hasUnknown, type PropertyMap } from "./pulumi/propertyValue";
import { isStateless, stackOf } from "./pulumi/urn";
import { RunFolder } from "./runFolder";

/**
 * `program`: a CheckConfig, a Check or the Update of a skipped step has come, or this is a command. `recorded`: none of these calls
 * has come so far, so the settings are those that the state has recorded. `stateless`: `pulumi do` without a stack, as with
 * `--stateless` and for every list, read or function. The creates of a stateless run all have one URN, and are unrelated.
 */
export type RunKind = "program" | "recorded" | "stateless";

/**
 * What a Diff is about: the inputs of the program, what a refresh has found, an import, or a dependent of a resource that is to be
 * deleted before its replacement.
 */
export type DiffOccasion = "program" | "refresh" | "import" | "dependent";

/**
 * What a Read is about: an instance that the stack manages (`refresh`), one that a `.get()` has read before (`external`), or one that no
 * state has shown (`lookup`). A lookup serves an import, a `.get()`, `exists` or `pulumi do`. Only the Check after it tells an import.
 */
export type ReadOccasion = "refresh" | "external" | "lookup";

/** An accepted instance, for which an operation waits. */
export interface Unfinished {
  readonly instance: Instance;
  /** The service and the token with which it was created or found. */
  readonly origin: Origin;
  /**
   * The mark (`ListingSource.mark`) of the end of the POST. Listings with a lower mark began before, and prove nothing.
   * 0 if a listing or the state has already shown the instance: then every listing counts.
   */
  readonly after: number;
}

/** What a Create or an Update is about. */
export type ChangeOccasion =
  | { readonly is: "preview" | "first" }
  /** An error hook of the program repeats a call that has failed: a Create if `of` says so, even if this call is an Update. */
  | {
      readonly is: "repeat";
      readonly of: "create" | "update";
      /** What the failed Create has left unfinished. */
      readonly unfinished: Unfinished | undefined;
      /** Whether one of the failed calls was answered with the error of an instance that is not ready. */
      readonly wasUnfinished: boolean;
    };

/** What a Delete is about. */
export type DeleteOccasion =
  /** The state is a copy of another stack's, and this run is of `stack`. */
  | { readonly is: "otherStack"; readonly stack: string }
  /**
   * The resource `keeper` still has the instance: another resource, as after a second import, or this resource, if the state has two
   * entries of it, as after a create with `--replace` that went on with an earlier create.
   */
  | { readonly is: "shared"; readonly keeper: string }
  /** The resource gets another instance, which is `next` if it has come before the Delete. */
  | {
      readonly is: "replaced";
      readonly next?: KnownInstance | undefined;
      /** The delete policy that the program gives the resource now. */
      readonly deletePolicy?: Settings["deletePolicy"] | undefined;
    }
  | { readonly is: "removed" };

/** What a call has shown of the instance of a resource. Without its outputs, which may be large. */
export interface KnownInstance {
  /** Empty while its Create is under way, and if that has failed without one. */
  readonly id: string;
  readonly isUnfinished: boolean;
  readonly status?: string | undefined;
  readonly ipv4?: string | undefined;
  readonly origin?: Origin | undefined;
  readonly acceptedAt?: string | undefined;
  /** As `Instance.known`. */
  readonly known?: readonly string[];
  /** Whether this run has waited for it, or will. */
  readonly isAwaited?: boolean | undefined;
}

/** What a process has learned of a resource that the program has asked its provider for. */
interface Told {
  readonly urn: string;
  /** The id that the state has for the resource, once a Diff has shown it. */
  readonly before?: string | undefined;
  /** What the resource has now. */
  readonly instance?: KnownInstance | undefined;
  /** Whether the resource keeps `instance`. */
  readonly isKept: boolean;
  readonly deletePolicy: Settings["deletePolicy"] | undefined;
}

/** User data of which the state is to hold only a hash. */
export interface ScriptText {
  urn: string;
  text: string;
  /** Hides the text in messages, until the session forgets it. */
  hidden: Disposable;
}

/** What the calls of a run have shown of a resource. */
class Resource {
  /** Whether the program, or an import, has asked for it: by a Check, or by the Update of a skipped step. */
  isRegistered = false;
  /** Whether Check was called for it after its last Read. */
  isChecked = false;
  lastRead: ReadOccasion | undefined;
  /** What the last Read has found, if that was a lookup. */
  found: Instance | undefined;
  /** The outputs that the last Read has found changed. */
  drift: readonly string[] = [];
  /** Whether this run has said what becomes of an earlier create of it that is in doubt. */
  isDoubtSaid = false;
  /** How often Create or Update was called, previews not counted. */
  tries = 0;
  /** The first of these calls. */
  change: "create" | "update" | undefined;
  /** Whether one of these calls was answered with the error of an instance that is not ready. */
  wasUnfinished = false;
  /** What the last Create has left unfinished. */
  unfinished: Unfinished | undefined;
  /** Its instance, as the last Diff, Create or Update has shown it. Not as a Read has: the engine also reads what is replaced. */
  instance: KnownInstance | undefined;
  /** The instance of the state, or of an import, as the Diff has shown it. */
  before: KnownInstance | undefined;
  /** Whether it keeps its instance: false if a create is expected or under way. */
  isKept = false;
}

/** After so many failures of a call, the engine asks no error hook any more (`maxErrorHookRetries`). */
const maxFailures = 100;

/** Sees the calls of one run in their order. The calls must be noted before they are carried out. */
export class Engine {
  /** The ids of the instances that the creates of this run have made or taken over. */
  readonly ours = new Set<string>();
  /** By its hash: the text of user data that a create may still need. Only the process that checked the inputs has it. */
  readonly texts = new Map<string, ScriptText>();
  /** Whether a call has come that changes something. The run of a preview gets none. */
  isActing = false;
  /** How the run has ended. The creates that still run read this when they end. */
  ending: CancelReason | undefined;
  readonly #resources = new Map<string, Resource>();
  /** By name: the URN of the first resource for which the program chose it. */
  readonly #named = new Map<string, string>();
  readonly #folder: RunFolder<Told>;
  #kind: RunKind;
  #deletePolicy: Settings["deletePolicy"] | undefined;

  /** `kind`: until a call shows another one. `file`, `said`: as in `RunFolder`. */
  constructor(
    ctx: Partial<ProviderContext> = {},
    kind: RunKind = "recorded",
    file: string = randomUUID(),
    said = new Once(),
  ) {
    this.#folder = new RunFolder(ctx, file, said);
    this.#kind = kind;
  }

  // ── The calls ──────────────────────────────────────────────────────────────────────────────────

  /** A CheckConfig of the provider resource with this URN. */
  checkConfig(urn: string): void {
    this.#kind = "program";
    this.#folder.noteStack(urn);
  }

  configure(urn: string | undefined): void {
    if (isStateless(urn)) this.#kind = "stateless";
  }

  /** Takes the setting of the session that Configure has begun. */
  configured({ deletePolicy }: Pick<Settings, "deletePolicy">): void {
    this.#deletePolicy = deletePolicy;
  }

  /** Returns the instance that the Read before it has found, if this is the Check of an import. */
  check({ urn, olds }: Pick<CheckRequest, "urn" | "olds">): Instance | undefined {
    const resource = this.resource(urn);
    const { found } = resource;
    resource.found = undefined;
    resource.isChecked = true;
    // Without old inputs, a create follows. If the state has an instance, it is replaced.
    resource.isKept = Object.keys(olds).length > 0;
    this.#register(urn);
    this.#tell(urn);
    return found;
  }

  /** Notes that the program, or an import, asks for the resource. */
  #register(urn: string): void {
    this.resource(urn).isRegistered = true;
    if (this.#kind === "recorded") this.#kind = "program";
    this.#folder.noteStack(urn);
  }

  /** `instance`: as the state has it. */
  diff({ urn, news }: Pick<DiffRequest, "urn" | "news">, instance: KnownInstance): DiffOccasion {
    const resource = this.resource(urn);
    const { isChecked, lastRead } = resource;
    if (!isChecked && !hasUnknown(news)) return "refresh";
    this.#note(urn, instance, instance.isUnfinished);
    resource.before = resource.instance;
    resource.isKept = isChecked;
    this.#tell(urn);
    if (isChecked) return lastRead === "lookup" ? "import" : "program";
    return "dependent";
  }

  read({ urn, inputs, outputs }: Pick<ReadRequest, "urn" | "inputs" | "outputs">): ReadOccasion {
    const resource = this.resource(urn);
    resource.isChecked = false;
    resource.drift = [];
    resource.found = undefined;
    return (resource.lastRead = readOccasion(inputs, outputs));
  }

  /** A Create, or, with an id, an Update. */
  change({ urn, preview, id }: { urn: string; preview: boolean; id?: string }): ChangeOccasion {
    // The Update of a step that is skipped is all that shows that the program still asks for the resource.
    if (preview && id !== undefined) this.#register(urn);
    if (preview) return { is: "preview" };
    this.#act();
    const resource = this.resource(urn);
    const { tries, unfinished, wasUnfinished } = resource;
    resource.tries++;
    const of = (resource.change ??= id === undefined ? "create" : "update");
    return tries === 0 ? { is: "first" } : { is: "repeat", of, unfinished, wasUnfinished };
  }

  delete({ urn, id }: Pick<DeleteRequest, "urn" | "id">): DeleteOccasion {
    this.#act();
    const own = [...this.#resources.keys()].flatMap((of) => this.#toldOf(of) ?? []);
    const all = [...own, ...this.#folder.others()];
    const withId = all.filter(({ before, instance }) => before === id || instance?.id === id);
    const stack = this.#folder.stack ?? stackOf(urn);
    // What a Diff has shown belongs to this stack: an alias has brought it from the other one.
    if (stack !== stackOf(urn) && withId.length === 0) return { is: "otherStack", stack };
    // If the keeper has this URN, the state has two entries of it: before a replacement, a Check without old inputs ends `isKept`.
    const keeper = withId.find((one) => one.isKept && one.instance?.id === id);
    if (keeper) return { is: "shared", keeper: keeper.urn };
    const isOfUrn = (one: Told) => one.urn === urn;
    // An alias gives the Delete the old URN. Then the resource with the id is the heir.
    // After a Delete that failed, only `known` of the new instance still has the id.
    const heir =
      withId.find(isOfUrn) ??
      withId[0] ??
      all.find(isOfUrn) ??
      all.find(({ instance }) => instance?.known?.includes(id));
    if (!heir) return { is: "removed" };
    const next = heir.instance?.id === id ? undefined : heir.instance;
    return { is: "replaced", next, deletePolicy: heir.deletePolicy };
  }

  /** Notes that this is no preview. So the errors of preview calls were those of skipped steps, and reached nobody (`Skip` in step.go). */
  #act(): void {
    if (this.isActing) return;
    this.isActing = true;
    for (const resource of this.#resources.values()) resource.isDoubtSaid = false;
  }

  /** Notes how the run ended. `engineGone` is final. */
  end(reason: CancelReason): void {
    if (this.ending !== "engineGone") this.ending = reason;
    this.#folder.end();
  }

  // ── What the calls have found ──────────────────────────────────────────────────────────────────

  /** Notes the instance that the resource has now. `isAwaited`: as in `KnownInstance`. */
  hold(urn: string, shown: KnownInstance, isAwaited = shown.isUnfinished): void {
    this.#note(urn, shown, isAwaited);
    this.#tell(urn);
  }

  #note(urn: string, shown: KnownInstance, isAwaited: boolean): void {
    const { id, isUnfinished, status, ipv4, origin, acceptedAt, known = [] } = shown;
    const resource = this.resource(urn);
    const seen = { id, isUnfinished, status, ipv4, origin, acceptedAt, known };
    resource.instance = { ...seen, isAwaited };
    resource.isKept = id !== "";
  }

  /** Tells the other processes of the run what the calls have shown of a resource. */
  #tell(urn: string): void {
    const told = this.#toldOf(urn);
    if (told) this.#folder.tell(told);
  }

  /** Undefined if the calls have shown nothing of the resource. */
  #toldOf(urn: string): Told | undefined {
    const { isRegistered, isKept, before, instance } = this.resource(urn);
    if (!isRegistered && !instance) return undefined;
    const deletePolicy = this.#deletePolicy;
    return { urn, before: before?.id, instance, isKept, deletePolicy };
  }

  /** Notes a name that the program chose. Returns whether the program chose it before, for another resource. */
  noteName(name: string, urn: string): boolean {
    const first = this.#named.get(name) ?? urn;
    this.#named.set(name, first);
    return first !== urn;
  }

  /**
   * Whether a call has to be answered as a success, although its instance is not ready: at the 99th try, and after Ctrl-C if an earlier
   * try has failed. (After 100 failures, the engine gives up, and the provider may have missed a call that it could not read. After
   * Ctrl-C, each further try ends at once.)
   */
  mustSucceed(urn: string): boolean {
    const { tries, wasUnfinished } = this.resource(urn);
    return (this.ending !== undefined && wasUnfinished) || tries >= maxFailures - 1;
  }

  // ── What the run is ────────────────────────────────────────────────────────────────────────────

  get kind(): RunKind {
    return this.#kind;
  }

  /** The stack of the run (`stackOf`). Undefined until a call, or another process of the run, has named it. */
  get stack(): string | undefined {
    const [urn] = this.#resources.keys();
    return this.#folder.stack ?? (urn === undefined ? undefined : stackOf(urn));
  }

  /** Returns the resources, and the names that the program chose, whose create follows or is under way. */
  toCreate(): { urns: string[]; names: string[] } {
    const isToCreate = (urn: string) => {
      const { isRegistered, isKept } = this.resource(urn);
      return isRegistered && !isKept;
    };
    const names = [...this.#named].filter(([, urn]) => isToCreate(urn)).map(([name]) => name);
    return { urns: [...this.#resources.keys()].filter(isToCreate), names };
  }

  /** Whether the program, or an import, has asked for an instance. */
  get hasRegistered(): boolean {
    return [...this.#resources.values()].some(({ isRegistered }) => isRegistered);
  }

  /** Returns the entry of a resource, which it makes if there is none. */
  resource(urn: string): Resource {
    const resource = this.#resources.get(urn) ?? new Resource();
    this.#resources.set(urn, resource);
    return resource;
  }
}

/** Absent and empty are one thing: engine 3.274 began to leave out what is empty. */
function readOccasion(inputs: PropertyMap, outputs: PropertyMap): ReadOccasion {
  const isEmpty = (map: PropertyMap) => Object.keys(map).length === 0;
  // A refresh has the outputs of the state. A `.get()` sends the state that the program gives as both.
  if (isEmpty(outputs) || isDeepStrictEqual(inputs, outputs)) return "lookup";
  return isEmpty(inputs) ? "external" : "refresh";
}
