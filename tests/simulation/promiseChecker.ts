/**
 * Checks in a history what the provider promises:
 * (1) no created instance is lost,
 * (2) none is created twice,
 * (3) no state drops an instance that exists,
 * (4) no run touches an instance that is not its own,
 * (5) what ends in order leaves nothing in doubt.
 *
 * The code gives a reason for each exception (docs/recover.md, "What is not promised").
 */
import type { InProcessEmulator } from "../../emulator/inProcess";
import { settleCommand } from "../../provider/advice";
import { inSandbox, leftoversNotices } from "../../provider/create/reports";
import { isNameFor } from "../../provider/instance/naming";
import type { Found } from "../../provider/ledger/record";
import { logicalName } from "../../provider/pulumi/urn";
import type { Engine, Stack } from "./engine";
import { hidingFaults, listFaults } from "./faults";
import type { History, RunPlan, Words } from "./history";

/** An instance that a run of the history has created. */
export interface Made {
  id: string;
  name: string;
  urn: string;
  stack: Stack;
  /** The disk whose ledger has the record of its create. */
  disk: object;
  /** When listings begin to show it, in virtual milliseconds. */
  listedFrom: number;
  /** The runs whose messages have named it as in doubt or left over. */
  namedBy: Set<object>;
  /** Whether an engine that has never had it has saved its state over one that had it. */
  isOverwritten: boolean;
  /** Which saves reach the backend in the run that created it. */
  saves: RunPlan["saves"];
  /** Whether a second one was made that did not have to notice this one. */
  isUnnoticed: boolean;
  /** The ids of the others of its resource that a person or the state let its create pass. The next create does not ask again. */
  passed: Set<string>;
  /** The ids of the others of its resource that were made before it. */
  others: Set<string>;
  /** Why no state need have it any more, for example because a person removed it. */
  letGo?: string;
  /** When a person removed it. */
  removedAt?: number;
}

/** The run that sends a POST. */
export interface Poster {
  plan: RunPlan | undefined;
  disk: object;
  engine: Pick<Engine, "replacing" | "compared" | "read" | "scopeOf" | "entries">;
  words: Words;
  /** Whether its token is a live one; `compute:leftovers`, and `compute:deletePolicy`. */
  live: boolean;
  /** The settings. What the person has typed wins over them. */
  leftovers: History["leftovers"];
  deletePolicy: History["deletePolicy"];
  metFaults: ReadonlySet<string>;
  /** Whether a message said that the listing before a create was not complete. */
  reportedPartial: boolean;
  /** The ids that its engine has asked to delete. */
  deletes: ReadonlySet<string>;
  /** The ids and the names in the files that its creates have found. */
  inDoubt: ReadonlySet<string>;
}

/** How old the listing before a create may be when the service acts on the POST. */
const baselineMs = 45_000;
/** The same before a DELETE, which follows a recent listing. */
const recentlyMs = 10_000;

/** Faults of listings. */
const distorting = { ...listFaults, ...hidingFaults };

/** What only the messages about a doubt or a leftover say. One of them has the command for several instances. */
const leftoverWords = [...Object.values(leftoversNotices), "may have an instance already"];
const namingWords = [settleCommand(), "is in doubt", ...leftoverWords];

/** Collects the promises that the events of a history break. */
export class PromiseChecker {
  readonly made = new Map<string, Made>();
  readonly violations: string[] = [];
  figures = { made: 0, named: 0 };

  constructor(
    private readonly service: Pick<InProcessEmulator, "control">,
    private readonly stacks: readonly Stack[],
    private readonly now: () => number,
  ) {}

  violated(what: string): void {
    if (!this.violations.includes(what)) this.violations.push(what);
  }

  isAlive(id: string): boolean {
    return this.service.control.has(id);
  }

  /** A message about a doubt or a leftover names instances by their id or their name. */
  onMessage(text: string, run: Pick<Poster, "engine">): void {
    if (!namingWords.some((words) => text.includes(words))) return;
    const isAboutLeftovers = leftoverWords.some((words) => text.includes(words));
    // In a sandbox, it only counts them.
    const isCount = text.includes(inSandbox);
    for (const made of this.made.values()) {
      if (!isCount && !text.includes(made.id) && !text.includes(`"${made.name}"`)) continue;
      made.namedBy.add(run);
      const isNamed = isAboutLeftovers && text.includes(made.id);
      if (isNamed && this.#answered(made.urn, run).has(made.id))
        this.violated(`a person is asked about ${made.id} once more: ${text}`);
    }
  }

  /**
   * No other instance of its resource may exist that the run has not named, or that has to stop it (2). `isRecorded`: whether the
   * ledger has a record of this POST. Undefined if its disk is lost.
   */
  onCreate(made: Made, poster: Poster, isRecorded: boolean | undefined): void {
    this.made.set(made.id, made);
    this.figures.made++;
    if (poster.plan?.operation === "preview") this.violated(`a preview created ${made.id}`);
    if (isRecorded === false) this.violated(`${made.id} is created, and no record says so`);
    made.passed = this.#passedBy(made, poster);
    for (const other of this.made.values())
      if (other.urn === made.urn && this.#mayPass(other, poster)) made.others.add(other.id);
    for (const id of this.#shownFor(made.urn, poster)?.others ?? []) made.others.add(id);
    for (const other of this.made.values()) {
      if (other === made || other.urn !== made.urn || other.stack !== made.stack) continue;
      if (!this.isAlive(other.id) || other.letGo !== undefined || this.#isToBeDeleted(other))
        continue;
      // When the instance of the state was made, this was asked.
      if (this.#shownFor(made.urn, poster)?.others.has(other.id)) continue;
      // The service acted on this POST when its machine was gone, and after another run's: no listing before that one had it.
      if (isRecorded === undefined) made.isUnnoticed = true;
      this.#checkSecond(made, other, poster);
    }
  }

  /** A person lets an instance run beside that of its resource. */
  letRun(id: string, beside: string): void {
    this.made.get(id)?.namedBy.add(this);
    this.made.get(beside)?.others.add(id);
  }

  /** The state now notes that, for the instance that it has. */
  noteLetRun(id: string, beside: string): void {
    this.made.get(beside)?.passed.add(id);
  }

  /** The state does not note what a person has answered for this instance. */
  forgetAnswers(id: string): void {
    this.made.get(id)?.passed.clear();
  }

  /** What a person has answered for the instance that a Diff of this run has shown for the resource. */
  #answered(urn: string, run: Pick<Poster, "engine">): ReadonlySet<string> {
    return this.#shownFor(urn, run)?.passed ?? new Set();
  }

  /** The instance that a Diff of this run has shown for the resource. */
  #shownFor(urn: string, { engine }: Pick<Poster, "engine">): Made | undefined {
    return this.made.get(engine.compared.get(logicalName(urn)) ?? "");
  }

  /** Whatever the listing before the create surely showed of its resource. */
  #passedBy(made: Made, poster: Poster): Set<string> {
    const { metFaults, reportedPartial } = poster;
    if (reportedPartial || [...metFaults].some((name) => name in distorting)) return new Set();
    const shown = [...this.made.values()].filter(
      (other) =>
        other !== made &&
        other.urn === made.urn &&
        other.stack === made.stack &&
        this.isAlive(other.id) &&
        other.listedFrom <= this.now() - baselineMs &&
        this.#mayPass(other, poster),
    );
    const before = [...this.#answered(made.urn, poster)].filter((id) => this.isAlive(id));
    return new Set([...shown.map(({ id }) => id), ...before]);
  }

  /** Other stacks may share a name that a program chose. */
  #mayPass(other: Made, poster: Poster): boolean {
    if (this.#isExplicit(other)) return poster.words.COMPUTE_LEFTOVERS === "warn";
    return isNameFor(other.name, other.urn, this.#scopeOf(other, poster));
  }

  #checkSecond(made: Made, other: Made, poster: Poster): void {
    const isReplaced = poster.engine.replacing.has(other.id);
    if (this.#mayBeUnnoticed(other, poster)) {
      other.isUnnoticed = true;
      return;
    }
    const { live, words, deletePolicy } = poster;
    const leftovers = words.COMPUTE_LEFTOVERS ?? poster.leftovers;
    const deleteFails = (words.COMPUTE_DELETE_POLICY ?? deletePolicy) === "fail";
    // What is typed lets the instance run that a Diff or a refresh has shown, and no other one.
    const { compared, read } = poster.engine;
    const isShown = [...compared.values(), ...read].includes(other.id);
    const isGuarded = deleteFails || (deletePolicy === "fail" && !isShown);
    const isGenerated = isNameFor(other.name, other.urn, this.#scopeOf(other, poster));
    const isStopDue =
      leftovers === "fail"
        ? !isReplaced
        : leftovers === undefined && live && isGuarded && isGenerated;
    const text = `${made.id} is created for ${made.urn}, but ${other.id}`;
    if (isStopDue) this.violated(`${text} should have stopped that`);
    else if (!isReplaced && !other.namedBy.has(poster))
      this.violated(`${text} was not named before`);
  }

  /**
   * Whether the run must notice that the answer to its POST has the id of this instance, which existed before: a listing before
   * the POST showed it. Otherwise, nothing is promised.
   */
  isKnown(id: string, { metFaults, reportedPartial }: Poster): boolean {
    if (reportedPartial || [...metFaults].some((name) => name in distorting)) return false;
    const made = this.made.get(id);
    return made === undefined || made.listedFrom <= this.now() - baselineMs;
  }

  #isToBeDeleted({ id, stack }: Made): boolean {
    return stack.resources.some((held) => held.id === id && held.old);
  }

  /** Whether a run need not notice the first instance when it creates a second one. */
  #mayBeUnnoticed(first: Made, poster: Poster): boolean {
    const { disk, metFaults, reportedPartial, inDoubt } = poster;
    const leftovers = poster.words.COMPUTE_LEFTOVERS ?? poster.leftovers;
    const listedName = this.service.control.instance(first.id)?.name;
    const isRenamed = listedName !== first.name;
    const isFound = inDoubt.has(first.id) || (inDoubt.has(first.name) && first.disk === disk);
    if (isFound) return isRenamed || metFaults.has("ids that change");
    // The listing was not complete, and a message said so.
    if (reportedPartial && leftovers !== "fail") return true;
    // A fault hid the first one.
    if (Object.keys(hidingFaults).some((name) => metFaults.has(name))) return true;
    if (isRenamed) return true;
    // Its provider resource was never saved, or was destroyed since. So a generated name has another tag.
    const scope = this.#scopeOf(first, poster);
    if (!this.#isExplicit(first) && !isNameFor(first.name, first.urn, scope)) return true;
    // The listing before this create need not show it yet.
    return first.listedFrom > this.now() - baselineMs;
  }

  #scopeOf({ urn }: Made, { engine }: Pick<Poster, "engine">): string {
    return engine.scopeOf(logicalName(urn)) ?? "";
  }

  #isExplicit({ name, urn }: Made): boolean {
    return name === `${urn.split("::").at(-1)}-1`;
  }

  /** Called when the engine gets an id. It must not be that of another resource's instance (4). */
  onIdReturned(
    urn: string,
    stack: Stack,
    id: string,
    { metFaults }: Pick<Poster, "metFaults">,
  ): void {
    const made = this.made.get(id);
    if (!made) {
      // The outcome of the POST was unknown, and the provider adopted the changed id.
      if (metFaults.has("ids that change")) return;
      return this.violated(`${id}, which no run created, was returned for ${urn}`);
    }
    if (made.urn !== urn || made.stack !== stack) {
      this.violated(
        `${id} was created for ${made.urn} of ${made.stack.name}, but returned for ${urn}`,
      );
    }
    const holder = this.stacks.find((other) => other !== stack && other.ids.includes(id));
    if (holder) this.violated(`${id} is held by ${holder.name}, but returned to ${stack.name}`);
  }

  /**
   * An instance that a saved state drops must be gone or let go (3), unless its engine has never had it. No state holds an
   * instance of somebody else (4).
   */
  onSave(before: readonly string[], after: readonly string[], known: ReadonlySet<string>): void {
    for (const id of after) {
      const made = this.made.get(id);
      if (made) made.isOverwritten = false;
      if (this.isAlive(id) && !this.made.has(id))
        this.violated(`a state holds ${id}, which no run created`);
    }
    for (const id of before) {
      if (after.includes(id) || !this.isAlive(id)) continue;
      const made = this.made.get(id);
      // After `pulumi cancel`, two engines run at once, and the one that saves last has not read what the other one saved. No
      // provider can prevent that. `onCreate` checks that the next create does not fall for it.
      if (made && !known.has(id)) made.isOverwritten = true;
      else if (made?.letGo === undefined) this.violated(`a state drops ${id}, which exists`);
    }
  }

  /**
   * The engine of the run that destroys an instance must have asked for it. Its stack must hold it or have held it, and no
   * other stack may hold it (4).
   */
  onDestroy(id: string, run: Poster & { stack: Stack }): void {
    const { stack, deletes } = run;
    this.#checkServes(id, run);
    if (!this.made.has(id)) this.violated(`${id}, which no run created, is destroyed`);
    if (!deletes.has(id)) this.violated(`${id} is destroyed by a run that was not asked to`);
    // An engine destroys what its own state holds, even if another engine has saved its state over that.
    if (!stack.ids.includes(id) && this.made.get(id)?.isOverwritten !== true)
      this.violated(`${id} is destroyed by a stack that does not hold it`);
    const other = this.stacks.find(
      (candidate) => candidate !== stack && candidate.ids.includes(id),
    );
    if (other) this.violated(`${id} is destroyed, but ${other.name} holds it`);
  }

  /**
   * No server that serves is ended while the one that replaces it does not, by what the service really has, and none that its
   * resource keeps.
   */
  #checkServes(
    id: string,
    { engine, plan, words, deletePolicy, metFaults, reportedPartial }: Poster,
  ): void {
    const isOfPolicy = words.COMPUTE_DELETE_POLICY === undefined && deletePolicy === "destroy";
    // A destroy has recorded settings.
    const isDestroy = plan?.operation === "destroy";
    if (!isOfPolicy && !(isDestroy && words.COMPUTE_DELETE_POLICY === undefined))
      this.violated(`${id} is destroyed, although the policy of the run is another`);
    if (isDestroy) return;
    const isKept = engine.entries.some((one) => one.id === id && !one.old);
    if (isKept && !engine.replacing.has(id))
      this.violated(`${id} is destroyed, although its resource keeps it`);
    const urns = engine.entries.filter((one) => one.id === id).map(({ urn }) => urn);
    const next = engine.entries.find((one) => one.id !== id && !one.old && urns.includes(one.urn));
    const statusOf = (one: string) => this.service.control.instance(one)?.status;
    // The listings of the run may have shown something else.
    const isDistorted = [...metFaults].some((name) => name in distorting) || reportedPartial;
    if (statusOf(id) !== "ACTIVE" || isDistorted) return;
    if (!next) this.violated(`${id} is destroyed, and its resource has no other`);
    else if (statusOf(next.id) !== "ACTIVE" && !this.#isRemovedRecently(next.id))
      this.violated(
        `${id} is destroyed, and ${next.id}, which replaces it, is ${statusOf(next.id) ?? "gone"}`,
      );
  }

  #isRemovedRecently(id: string): boolean {
    const { removedAt = -Infinity } = this.made.get(id) ?? {};
    return removedAt > this.now() - recentlyMs;
  }

  /**
   * In the end, after `settle` and an `up` without changes, every existing instance must be in a state, or have been named or
   * let go (1). No file of a POST is left (5). `isFileLost`: whether its file is
   * gone with its machine, or can't be read.
   */
  onEnd(files: readonly Found[], isFileLost: (made: Made) => boolean): void {
    const held = this.stacks.flatMap(({ ids }) => ids);
    for (const made of this.made.values()) {
      const { id, namedBy, letGo, name, urn, stack } = made;
      if (!this.isAlive(id) || held.includes(id) || letGo !== undefined) continue;
      if (namedBy.size > 0) {
        this.figures.named++;
        continue;
      }
      // Its provider resource was never saved, or was destroyed since. So a generated name has another tag.
      const isOfScope = [...stack.providers.values()].some(({ scope }) =>
        isNameFor(name, urn, scope),
      );
      const isOfOtherScope = !this.#isExplicit(made) && !isOfScope;
      // The state could not be saved, or was saved over, or a listing lacked the instance when a second one was made, or its
      // file is lost. If the program chose the name, nothing speaks of the instance once the state has another one of that name.
      const isUnsaved = made.isOverwritten || made.saves !== "each step";
      const isUnknown = isUnsaved || made.isUnnoticed || isFileLost(made);
      const isHidden = isUnknown && this.#isExplicit(made);
      if (!isOfOtherScope && !isHidden)
        this.violated(`${id} (${name}) exists, but no state or message has it`);
    }
    for (const id of new Set(held)) {
      if (!this.isAlive(id)) this.violated(`${id} is held, but does not exist`);
      if (held.filter((heldId) => heldId === id).length > 1) this.violated(`${id} is held twice`);
    }
    for (const { record, liveness } of files)
      if (liveness === "dead" && record.at !== undefined)
        this.violated(`the file of ${record.urn} is left`);
  }
}
