/**
 * Checks in a history what the provider promises:
 * (1) no created instance is lost,
 * (2) none is created twice,
 * (3) no state drops an instance that exists,
 * (4) no run touches an instance that is not its own.
 *
 * The code gives a reason for each exception.
 */
import type { InProcessEmulator } from "../../emulator/inProcess";
import { isPending, type LedgerRecord } from "../../provider/ledger/record";
import type { Saver, Stack } from "./engine";
import { printedCommands } from "../support/printed";
import { hidingFaults, listFaults } from "./faults";
import type { RunPlan } from "./history";

/** An instance that a run of the history has created. */
export interface Made {
  id: string;
  name: string;
  urn: string;
  stack: Stack;
  /** The disk whose ledger has the record of its create. */
  disk: object;
  /** The run that created it. */
  by: Poster;
  scope: string | undefined;
  /** When listings begin to show it, in virtual milliseconds. */
  listedFrom: number;
  /** When a message first showed a command that imports it, in virtual milliseconds. */
  namedAt?: number;
  /** The run whose engine has never had it, and saved its state over one that had it. Undefined once a state has it again. */
  overwrittenBy?: Saver | undefined;
  /** Why no state need have it any more, for example because a person removed it. */
  letGo?: string;
}

/** The run that sends a POST. */
export interface Poster extends Saver {
  plan: RunPlan | undefined;
  disk: object;
  replacing: ReadonlySet<string>;
  metFaults: ReadonlySet<string>;
  /** Whether a message said that the listing before a create was not complete. */
  reportedPartial: boolean;
  /** The ids that its engine has asked to delete. */
  deletes: ReadonlySet<string>;
}

/** How old the listing before a create may be when the service acts on the POST. */
const baselineMs = 45_000;

/**
 * Whether the run that created the instance saves its state only at its end, after it has canceled its plugin, and the other
 * run started its plugin only after that cancel. docs/design.md says that nothing is promised then.
 */
function mayHaveSavedAfterCancel({ by }: Made, { configuredAt = 0 }: Saver): boolean {
  const { canceledAt } = by;
  return by.plan?.saves === "at the end" && canceledAt !== undefined && canceledAt < configuredAt;
}

/** Collects the promises that the events of a history break. */
export class PromiseChecker {
  readonly made = new Map<string, Made>();
  readonly violations: string[] = [];
  /** The disks that were lost with their machines, with their ledgers. */
  readonly goneDisks = new Set<object>();
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

  onMessage(text: string): void {
    const imports = printedCommands(text, "pulumi import ");
    // For a command with a placeholder, a person chooses among the ids in the message. What a wrong answer has named is none
    // of them.
    const hasChoice = imports.some((command) => command.includes("<id>"));
    const choice = hasChoice ? text.replaceAll(/answered with instance \S+/g, "") : "";
    // An instance that the program no longer asks for is not imported.
    const keeps = text.match(/to keep \S+: undo the change/g) ?? [];
    const named = [...imports, ...keeps, choice].join("\n");
    for (const made of this.made.values()) if (named.includes(made.id)) made.namedAt ??= this.now();
  }

  /** No other instance of its resource may exist that no message has named (2). */
  onCreate(made: Made, poster: Poster): void {
    this.made.set(made.id, made);
    this.figures.made++;
    if (poster.plan?.operation === "preview") this.violated(`a preview created ${made.id}`);
    for (const other of this.made.values()) {
      if (other === made || other.urn !== made.urn || other.stack !== made.stack) continue;
      if (!this.isAlive(other.id) || other.letGo !== undefined) continue;
      if (poster.replacing.has(other.id) || this.#isToBeDeleted(other)) continue;
      // Another engine has saved its state over the one that had the instance. Its plugin marks the record as contested, and
      // the create has to stop: not even a message is enough. A plugin that was killed has perhaps marked nothing.
      const { overwrittenBy } = other;
      const isMarked =
        overwrittenBy && !overwrittenBy.isKilled && !mayHaveSavedAfterCancel(other, overwrittenBy);
      if (isMarked && other.disk === poster.disk) {
        this.violated(`${made.id} is created, but another run's state was saved over ${other.id}`);
      }
      if (other.namedAt !== undefined) continue;
      if (!this.#mayBeUnnamed(other, poster)) {
        this.violated(
          `${made.id} is created for ${made.urn}, but ${other.id} was not named before`,
        );
      }
    }
  }

  /**
   * Whether the run must notice that the answer to its POST of `name` has the id of this instance, which existed before. It
   * must if the ledger on its disk has the instance under another name (the record need not have the id yet), or if a listing
   * before the POST showed the instance. Otherwise, nothing is promised.
   */
  isKnown(id: string, name: string, { disk, metFaults, reportedPartial }: Poster): boolean {
    const made = this.made.get(id);
    if (made?.disk === disk && made.name !== name) return true;
    const distorting = Object.keys({ ...listFaults, ...hidingFaults });
    if (reportedPartial || distorting.some((name) => metFaults.has(name))) return false;
    return made === undefined || made.listedFrom <= this.now() - baselineMs;
  }

  #isToBeDeleted({ id, stack }: Made): boolean {
    return stack.resources.some((held) => held.id === id && held.old);
  }

  /** Whether a second instance may be created although no message has named the first one. */
  #mayBeUnnamed(first: Made, { disk, metFaults, reportedPartial }: Poster): boolean {
    // The list was not complete, and a message said so; or a fault hid the first one.
    if (reportedPartial || Object.keys(hidingFaults).some((name) => metFaults.has(name)))
      return true;
    // Its provider resource was never saved, or was destroyed since. So its name has another tag than that of the new one.
    const isOfOtherScope = first.scope !== first.stack.scope;
    const hasChangedId = metFaults.has("ids that change");
    // The ledger on this disk has the record of its create. The provider knows it by the tag in its name, and by its id or
    // name in the record, unless a listing has changed the id.
    if (first.disk === disk) return isOfOtherScope && hasChangedId;
    return (
      // The listing before this create need not show it yet.
      first.listedFrom > this.now() - baselineMs || isOfOtherScope || hasChangedId
    );
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
  onSave(
    before: readonly string[],
    after: readonly string[],
    known: ReadonlySet<string>,
    saver: Saver,
  ): void {
    for (const id of after) {
      const made = this.made.get(id);
      if (made) made.overwrittenBy = undefined;
      if (this.isAlive(id) && !this.made.has(id))
        this.violated(`a state holds ${id}, which no run created`);
    }
    for (const id of before) {
      if (after.includes(id) || !this.isAlive(id)) continue;
      const made = this.made.get(id);
      // After `pulumi cancel`, two engines run at once, and the one that saves last has not read what the other one saved. No
      // provider can prevent that. `onCreate` checks that the next create does not fall for it.
      if (made && !known.has(id)) made.overwrittenBy = saver;
      else if (made?.letGo === undefined) this.violated(`a state drops ${id}, which exists`);
    }
  }

  /**
   * The engine of the run that destroys an instance must have asked for it. Its stack must hold it or have held it, and no
   * other stack may hold it (4).
   */
  onDestroy(id: string, { stack, deletes }: Pick<Poster, "deletes"> & { stack: Stack }): void {
    if (!this.made.has(id)) this.violated(`${id}, which no run created, is destroyed`);
    if (!deletes.has(id)) this.violated(`${id} is destroyed by a run that was not asked to`);
    // An engine destroys what its own state holds, even if another engine has saved its state over that.
    if (!stack.ids.includes(id) && !this.made.get(id)?.overwrittenBy)
      this.violated(`${id} is destroyed by a stack that does not hold it`);
    const other = this.stacks.find(
      (candidate) => candidate !== stack && candidate.ids.includes(id),
    );
    if (other) this.violated(`${id} is destroyed, but ${other.name} holds it`);
  }

  /**
   * In the end, every existing instance must be in a state, or have been named or let go, or the next create must be
   * able to find it (1).
   */
  onEnd(records: readonly LedgerRecord[]): void {
    const held = this.stacks.flatMap(({ ids }) => ids);
    for (const made of this.made.values()) {
      const { id, namedAt, letGo, name } = made;
      if (!this.isAlive(id) || held.includes(id) || letGo !== undefined) continue;
      if (namedAt !== undefined) {
        this.figures.named++;
        continue;
      }
      const isFindable =
        records.some(
          (record) =>
            // On the machine of the record, the next create of its resource names it or resumes its create.
            (record.id === id && (isPending(record) || record.stage === "delivered")) ||
            // A record has its name, and no id or one that a fault made up.
            (isPending(record) && record.name === name && isNoneOrMadeUp(record.id, id)),
        ) ||
        // Its ledger is lost. In its scope, the next create finds it by its name; nothing more is promised.
        this.goneDisks.has(made.disk);
      if (!isFindable)
        this.violated(`${id} (${name}) exists, but no state, record or message has it`);
    }
    for (const id of new Set(held)) {
      if (!this.isAlive(id)) this.violated(`${id} is held, but does not exist`);
      if (held.filter((heldId) => heldId === id).length > 1) this.violated(`${id} is held twice`);
    }
  }
}

/** The fault "ids that change" appends to each id. */
function isNoneOrMadeUp(recorded: string | undefined, id: string): boolean {
  return recorded === undefined || (recorded !== id && recorded.startsWith(`${id}-`));
}
