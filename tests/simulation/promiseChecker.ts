/**
 * What must hold in every history (CREATE: nothing lost, nothing doubled, nothing forgotten), and what is
 * left out of that, each with its reason.
 */
import type { InProcessEmulator } from "../../emulator/inProcess";
import { isPending, type LedgerRecord } from "../../provider/ledger/record";
import type { Stack } from "./engine";
import { printedCommands } from "../support/printed";
import { hidingFaults } from "./faults";
import type { RunPlan } from "./history";

/** An instance that a run of ours had made. */
export interface Made {
  id: string;
  name: string;
  /** Of the resource it was made for, in which stack. */
  urn: string;
  stack: Stack;
  /** The disk with the ledger that has its record. */
  disk: object;
  /** The provider resource of its run. */
  scope: string | undefined;
  /** From when on lists show it. */
  listedFrom: number;
  /** When a person was first told of it, with the command that takes it over. */
  toldAt?: number;
  /** Who let it go, knowingly. */
  letGo?: string;
}

/** A run in which a POST is sent. */
export interface Poster {
  plan: RunPlan | undefined;
  disk: object;
  /** Ids that it was told to replace. */
  replacing: ReadonlySet<string>;
  /** Faults that its requests have met so far. */
  met: ReadonlySet<string>;
  /** It has said that the listing before a create was not complete. */
  toldPartial: boolean;
}

/** A baseline may be that old when its POST is sent, and both take some time under way. */
const baselineMs = 45_000;

export class PromiseChecker {
  readonly #service: Pick<InProcessEmulator, "control">;
  readonly #stacks: readonly Stack[];
  readonly #now: () => number;
  readonly made = new Map<string, Made>();
  readonly violations: string[] = [];
  /** Disks that went with their machines, and the ledgers on them. */
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

  /** A person has read this: which instance, and how it is taken over. */
  told(text: string): void {
    if (printedCommands(text, "pulumi import ").length === 0) return;
    for (const made of this.made.values()) if (text.includes(made.id)) made.toldAt ??= this.#now();
  }

  /** The service has made one (2): no other of its resource may run that nobody was told of before. */
  makes(made: Made, poster: Poster): void {
    this.made.set(made.id, made);
    this.figures.made++;
    if (poster.plan?.operation === "preview") this.violated(`a preview made ${made.id}`);
    for (const other of this.made.values()) {
      if (other === made || other.urn !== made.urn || other.stack !== made.stack) continue;
      if (!this.isAlive(other.id) || other.letGo !== undefined) continue;
      if (poster.replacing.has(other.id) || this.#isToBeDeleted(other)) continue;
      if (other.toldAt !== undefined) continue;
      if (!this.#mayBeUnnamed(other, poster)) {
        this.violated(`${made.id} is made for ${made.urn}, and ${other.id} was not named before`);
      }
    }
  }

  #isToBeDeleted({ id, stack }: Made): boolean {
    return stack.resources.some((held) => held.id === id && held.old);
  }

  /** Whether a second instance may be made without a word of the first. */
  #mayBeUnnamed(first: Made, { disk, met, toldPartial }: Poster): boolean {
    // The list was not complete, which was said; or it left the first one out.
    if (toldPartial || Object.keys(hidingFaults).some((name) => met.has(name))) return true;
    // The ledger tells of the first one.
    if (first.disk === disk) return false;
    return (
      // No list showed it in time.
      first.listedFrom > this.#now() - baselineMs ||
      // Its provider resource was never saved.
      first.scope !== first.stack.scope ||
      // The list showed it under another id.
      met.has("ids that change")
    );
  }

  /** The engine was given an id for a resource (4): nobody else's may be taken over. */
  gives(urn: string, stack: Stack, id: string, { met }: Pick<Poster, "met">): void {
    const made = this.made.get(id);
    if (!made) {
      // Taken at its word after an unclear POST; the true one is then named as another of its name.
      if (met.has("ids that change")) return;
      return this.violated(`${id}, which no run made, is given for ${urn}`);
    }
    if (made.urn !== urn || made.stack !== stack) {
      this.violated(
        `${id} was made for ${made.urn} of ${made.stack.name}, and is given for ${urn}`,
      );
    }
    const holder = this.#stacks.find((it) => it !== stack && it.ids.includes(id));
    if (holder) this.violated(`${id} is held by ${holder.name}, and is given to ${stack.name}`);
  }

  /** A state is saved (3): what it does not hold any more was let go, or is gone. */
  saves(before: readonly string[], after: readonly string[]): void {
    for (const id of before) {
      if (after.includes(id) || !this.isAlive(id)) continue;
      if (this.made.get(id)?.letGo === undefined) this.violated(`a state drops ${id}, which runs`);
    }
  }

  /** The service destroys one (4). */
  destroys(id: string, stack: Stack): void {
    if (!stack.ids.includes(id))
      this.violated(`${id} is destroyed by a stack that does not hold it`);
    const other = this.#stacks.find((it) => it !== stack && it.ids.includes(id));
    if (other) this.violated(`${id} is destroyed, and ${other.name} holds it`);
  }

  /** At the end (1): each that runs is in a state, was named or let go, or will be by the next create. */
  ends(records: readonly LedgerRecord[]): void {
    const held = this.#stacks.flatMap(({ ids }) => ids);
    for (const made of this.made.values()) {
      const { id, toldAt, letGo, name } = made;
      if (!this.isAlive(id) || held.includes(id) || letGo !== undefined) continue;
      if (toldAt !== undefined) this.figures.named++;
      // The next create of its resource on that machine names it, or goes on with it.
      else if (records.some((it) => it.id === id && (isPending(it) || it.stage === "delivered")))
        continue;
      // Its name in the record tells of it; also where a list made up the id that it was adopted with.
      else if (records.some((it) => isPending(it) && it.name === name && isNoneOrMadeUp(it.id, id)))
        continue;
      // Its ledger is gone with its machine: the next create finds it by its name, in the same scope. In
      // another one nothing tells whose it is, so it is not promised.
      else if (this.goneDisks.has(made.disk)) continue;
      else this.violated(`${id} (${name}) runs, and nobody knows of it`);
    }
    for (const id of held) if (!this.isAlive(id)) this.violated(`${id} is held, and is not there`);
    for (const id of new Set(held)) {
      if (held.filter((it) => it === id).length > 1) this.violated(`${id} is held twice`);
    }
  }
}

/** `emulator/faults`: "ids that change" appends to each. */
function isNoneOrMadeUp(recorded: string | undefined, id: string): boolean {
  return recorded === undefined || (recorded !== id && recorded.startsWith(`${id}-`));
}
