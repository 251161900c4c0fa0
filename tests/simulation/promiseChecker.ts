/**
 * Checks the promises of the provider in a history: no created instance is lost (1), none is created twice (2), none
 * is forgotten by a state (3), and no other instance is touched (4). Each exception is in the code with its reason.
 */
import type { InProcessEmulator } from "../../emulator/inProcess";
import { isPending, type LedgerRecord } from "../../provider/ledger/record";
import type { Stack } from "./engine";
import { printedCommands } from "../support/printed";
import { hidingFaults } from "./faults";
import type { RunPlan } from "./history";

/** An instance that a run of the history has created. */
export interface Made {
  id: string;
  name: string;
  /** The URN of the resource that the instance was created for. */
  urn: string;
  stack: Stack;
  /** The disk with the ledger that contains the record of its create. */
  disk: object;
  /** The id of the provider resource in its run. */
  scope: string | undefined;
  /** When listings begin to show the instance, in virtual milliseconds. */
  listedFrom: number;
  /** When a message with an import command first contained the id, in virtual milliseconds. */
  namedAt?: number;
  /** Why the instance need not be in a state any more, for example because a person removed it. */
  letGo?: string;
}

/** What the checker needs to know about the run that sends a POST. */
export interface Poster {
  plan: RunPlan | undefined;
  disk: object;
  /** The ids that the run has begun to replace. */
  replacing: ReadonlySet<string>;
  /** The names of the faults that its requests have met so far. */
  metFaults: ReadonlySet<string>;
  /** Whether a message said that the listing before a create was not complete. */
  reportedPartial: boolean;
}

/** How old the listing before a create may be at most, in milliseconds, when the service acts on the POST. */
const baselineMs = 45_000;

/** Gets the events of a history, and collects the promises that were broken. */
export class PromiseChecker {
  readonly #service: Pick<InProcessEmulator, "control">;
  readonly #stacks: readonly Stack[];
  readonly #now: () => number;
  readonly made = new Map<string, Made>();
  readonly violations: string[] = [];
  /** The disks, with the ledgers on them, that were lost with their machines. */
  readonly goneDisks = new Set<object>();
  figures = { made: 0, named: 0, resumed: 0 };

  constructor(
    service: Pick<InProcessEmulator, "control">,
    stacks: readonly Stack[],
    now: () => number,
  ) {
    this.#service = service;
    this.#stacks = stacks;
    this.#now = now;
  }

  violated(what: string): void {
    if (!this.violations.includes(what)) this.violations.push(what);
  }

  isAlive(id: string): boolean {
    return this.#service.control.has(id);
  }

  /** Called with each message that a person reads. A message with an import command names the ids in it. */
  onMessage(text: string): void {
    if (printedCommands(text, "pulumi import ").length === 0) return;
    for (const made of this.made.values()) if (text.includes(made.id)) made.namedAt ??= this.#now();
  }

  /**
   * Called when the service has created an instance. No other instance of its resource may exist that no message has
   * named (2).
   */
  onCreate(made: Made, poster: Poster): void {
    this.made.set(made.id, made);
    this.figures.made++;
    if (poster.plan?.operation === "preview") this.violated(`a preview created ${made.id}`);
    for (const other of this.made.values()) {
      if (other === made || other.urn !== made.urn || other.stack !== made.stack) continue;
      if (!this.isAlive(other.id) || other.letGo !== undefined) continue;
      if (poster.replacing.has(other.id) || this.#isToBeDeleted(other)) continue;
      if (other.namedAt !== undefined) continue;
      if (!this.#mayBeUnnamed(other, poster)) {
        this.violated(
          `${made.id} is created for ${made.urn}, but ${other.id} was not named before`,
        );
      }
    }
  }

  #isToBeDeleted({ id, stack }: Made): boolean {
    return stack.resources.some((held) => held.id === id && held.old);
  }

  /** Whether a second instance may be created although no message has named the first one. */
  #mayBeUnnamed(first: Made, { disk, metFaults, reportedPartial }: Poster): boolean {
    // A message said that the list was not complete, or a fault hid the first instance.
    if (reportedPartial || Object.keys(hidingFaults).some((name) => metFaults.has(name)))
      return true;
    // The ledger on this disk has a record of the first instance, so the provider must know of the instance.
    if (first.disk === disk) return false;
    return (
      // The listing before this create need not have shown the first instance yet.
      first.listedFrom > this.#now() - baselineMs ||
      // The provider resource of the run that created it was never saved.
      first.scope !== first.stack.scope ||
      // A fault changed its id in listings.
      metFaults.has("ids that change")
    );
  }

  /** Called when the engine gets an id for a resource. The id must not be that of another resource's instance (4). */
  onIdReturned(
    urn: string,
    stack: Stack,
    id: string,
    { metFaults }: Pick<Poster, "metFaults">,
  ): void {
    const made = this.made.get(id);
    if (!made) {
      // After a POST with an unknown outcome, the provider adopted the id of a listing that a fault had changed.
      if (metFaults.has("ids that change")) return;
      return this.violated(`${id}, which no run created, was returned for ${urn}`);
    }
    if (made.urn !== urn || made.stack !== stack) {
      this.violated(
        `${id} was created for ${made.urn} of ${made.stack.name}, but returned for ${urn}`,
      );
    }
    const holder = this.#stacks.find((it) => it !== stack && it.ids.includes(id));
    if (holder) this.violated(`${id} is held by ${holder.name}, but returned to ${stack.name}`);
  }

  /**
   * Called when a state is saved, with the ids before and after. An instance that it drops must be gone or let go (3).
   */
  onSave(before: readonly string[], after: readonly string[]): void {
    for (const id of before) {
      if (after.includes(id) || !this.isAlive(id)) continue;
      if (this.made.get(id)?.letGo === undefined)
        this.violated(`a state drops ${id}, which exists`);
    }
  }

  /** Called when the service destroys an instance. The stack must hold it, and no other stack may (4). */
  onDestroy(id: string, stack: Stack): void {
    if (!stack.ids.includes(id))
      this.violated(`${id} is destroyed by a stack that does not hold it`);
    const other = this.#stacks.find((it) => it !== stack && it.ids.includes(id));
    if (other) this.violated(`${id} is destroyed, but ${other.name} holds it`);
  }

  /**
   * Called at the end. Every existing instance must be in a state, or have been named or let go, or the next create
   * must be able to find it (1).
   */
  onEnd(records: readonly LedgerRecord[]): void {
    const held = this.#stacks.flatMap(({ ids }) => ids);
    for (const made of this.made.values()) {
      const { id, namedAt, letGo, name } = made;
      if (!this.isAlive(id) || held.includes(id) || letGo !== undefined) continue;
      if (namedAt !== undefined) this.figures.named++;
      // The next create of its resource on that machine names the instance, or continues its create.
      else if (records.some((it) => it.id === id && (isPending(it) || it.stage === "delivered")))
        continue;
      // A record has its name, and no id or an id that a fault made up.
      else if (records.some((it) => isPending(it) && it.name === name && isNoneOrMadeUp(it.id, id)))
        continue;
      // Its ledger is lost with its machine. In the same scope, the next create finds the instance by its name. In
      // another scope nothing shows whose it is, so nothing is promised.
      else if (this.goneDisks.has(made.disk)) continue;
      else this.violated(`${id} (${name}) exists, but no state, record or message has it`);
    }
    for (const id of held)
      if (!this.isAlive(id)) this.violated(`${id} is held, but does not exist`);
    for (const id of new Set(held)) {
      if (held.filter((it) => it === id).length > 1) this.violated(`${id} is held twice`);
    }
  }
}

/** Whether a recorded id is missing, or made from `id` by the fault "ids that change", which appends to each id. */
function isNoneOrMadeUp(recorded: string | undefined, id: string): boolean {
  return recorded === undefined || (recorded !== id && recorded.startsWith(`${id}-`));
}
