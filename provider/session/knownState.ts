/** What a session learns about Pulumi's state, from the calls of the engine or, in commands, from exported states. */
import type { Ids } from "../evidence/witness";
import type { Origin } from "../origin";

/** What the outputs in a call, or in an exported state, say of an instance. */
export interface Seen {
  readonly id: string;
  readonly urn?: string;
  readonly origin: Origin | undefined;
  /** The id of the session that created, took over or imported the instance. */
  readonly stamp?: string | undefined;
  /** Whether it was not ready when last seen. */
  readonly isUnfinished?: boolean;
}

/** An instance that may have replaced another one. */
export interface Successor {
  /** Empty if its Create has failed without one. */
  readonly id: string;
  readonly isUnfinished: boolean;
  readonly name?: string | undefined;
  readonly status?: string | undefined;
  readonly ipv4?: string | undefined;
}

/**
 * What a session knows of Pulumi's state. A provider can't read the state. It sees only the ids and outputs in the engine's
 * calls, and some of these are in no state, such as those of an import in a preview.
 */
export class KnownState {
  /**
   * The URNs of the resources for which Check was called after their last Read. A Diff of these is part of an update or an
   * import. Any other Diff is part of a refresh.
   */
  readonly checkedSinceRead = new Set<string>();
  /** The URNs of the resources for which Check was called: those that the program, or an import, has registered. */
  readonly registered = new Set<string>();
  /** The ids of the instances that were not ready when a call showed them, or that a call has waited for. */
  readonly unfinished = new Set<string>();
  /** By name: the URN of the first resource for which Check was called with that name, if the program chose it. */
  readonly #named = new Map<string, string>();
  /** The first URN that `noteShown` has noted. */
  #shownUrn: string | undefined;
  /** The ids that calls have shown, each with the token hashes in its origins (`__origin` in the outputs). */
  readonly #tokenHashes = new Map<string, Set<string>>();
  /** By URN: the id of the instance that the resource of the program keeps in this run. */
  readonly #kept = new Map<string, string>();
  /** By URN, what `noteSuccessor` has noted last, and by id, the URN with which that was. */
  readonly successors = new Map<string, Successor>();
  readonly #urns = new Map<string, string>();
  /** For each id, the outputs that the last refresh found changed. */
  readonly #drift = new Map<string, readonly string[]>();

  /** The URN of some resource of the stack. Undefined until a call has named one. */
  get someUrn(): string | undefined {
    const [urn = this.#shownUrn] = this.registered;
    return urn;
  }

  /** Notes the instance of a call. */
  noteShown({ id, urn = "", origin, isUnfinished }: Seen): void {
    if (urn !== "") this.#shownUrn ??= urn;
    if (isUnfinished) this.unfinished.add(id);
    const hashes = this.#tokenHashes.get(id) ?? new Set();
    if (origin) hashes.add(origin.tokenHash);
    this.#tokenHashes.set(id, hashes);
  }

  /**
   * Notes the instance that a Create, an Update or a checked Diff was about. A Read tells nothing here: the engine also reads
   * what is replaced. A destroy sends none of these calls.
   */
  noteSuccessor(urn: string, { id, name, isUnfinished, status, ipv4 }: Successor): void {
    // Without its outputs, which may be large.
    this.successors.set(urn, { id, name, isUnfinished, status, ipv4 });
    this.#urns.set(id, urn);
  }

  /** Returns what has come in the place of this instance. Its Delete has the old URN of a resource that an alias renames. */
  successorOf({ id, urn }: { id: string; urn: string }): Successor | undefined {
    const next = this.successors.get(this.#urns.get(id) ?? urn);
    return next?.id === id ? undefined : next;
  }

  /** Notes a name that the program chose. Returns whether another resource of the program has it, too. */
  isNameTaken(name: string, urn: string): boolean {
    const first = this.#named.get(name) ?? urn;
    this.#named.set(name, first);
    return first !== urn;
  }

  /** Notes that the resource keeps its instance in this run, or (undefined) that it gives it up or gets another one. */
  keep(urn: string, id: string | undefined): void {
    if (id === undefined) this.#kept.delete(urn);
    else this.#kept.set(urn, id);
  }

  /** The URN of another resource of the program that keeps this instance, as after a second import. */
  otherKeeper({ id, urn }: { id: string; urn: string }): string | undefined {
    return [...this.#kept].find(([other, kept]) => kept === id && other !== urn)?.[0];
  }

  /** The ids that the run was shown. Such an instance may belong to another resource, so no create takes it over. */
  get shown(): Ids {
    return this.#tokenHashes;
  }

  /**
   * Returns the ids of the other instances that were recorded with the token of this instance. A listing that shows one of
   * them is of that token's tenant, and may prove that the instance is gone (G3). Undefined if every listing with the
   * configured token may: the token is the recorded one, or none is recorded, as after an import.
   */
  vouchersOf({ id, origin }: Seen, { tokenHash }: Origin): ReadonlySet<string> | undefined {
    if (origin === undefined || origin.tokenHash === tokenHash) return undefined;
    const others = [...this.#tokenHashes].filter(
      ([seenId, hashes]) => seenId !== id && hashes.has(origin.tokenHash),
    );
    return new Set(others.map(([seenId]) => seenId));
  }

  /** Notes which outputs a refresh has found changed. */
  noteDrift(id: string, outputs: readonly string[]): void {
    this.#drift.set(id, outputs);
  }

  /** Returns and forgets what `noteDrift` noted. */
  takeDrift(id: string): readonly string[] {
    const outputs = this.#drift.get(id) ?? [];
    this.#drift.delete(id);
    return outputs;
  }
}
