/** What a session learns about Pulumi's state, from the calls of the engine or, in `audit`, from exported states. */
import type { Ids } from "../evidence/witness";
import type { Origin } from "../origin";

/** Where the engine names a resource: in a refresh, or with what the program says, which includes imports. */
export type Phase = "refresh" | "program";

/** What the outputs in a call, or in an exported state, say of an instance. */
export interface Seen {
  readonly id: string;
  readonly urn?: string;
  readonly origin: Origin | undefined;
  /** The id of the session that made the outputs. */
  readonly stamp?: string | undefined;
}

/**
 * What a session knows of Pulumi's state. A provider can't read the state: it only sees the ids and outputs in the engine's
 * calls, and the engine also sends some that no state holds (a `.get()`).
 */
export class KnownState {
  /**
   * The URNs of the resources for which Check was called after their last Read. Their Diffs are part of an update or an
   * import. The Diff of any other resource is part of a refresh.
   */
  readonly inUpdate = new Set<string>();
  /** The URNs of the resources for which Check was called: those that the program, or an import, has registered. */
  readonly registered = new Set<string>();
  /** The ids of the instances that a state held, as outputs with the stamp of another session prove. */
  readonly proven = new Set<string>();
  readonly #sessionId: string;
  /** The observed ids, each with the token hashes in its origins (`__origin` in the outputs). */
  readonly #tokenHashes = new Map<string, Set<string>>();
  /**
   * For each id, the URNs of the resources that hold it. The phases are kept apart, because the refresh of an aliased
   * resource comes with its old URN.
   */
  readonly #holders = {
    refresh: new Map<string, Set<string>>(),
    program: new Map<string, Set<string>>(),
  };
  /** For each proven instance, its stamp (the session that created it) and the URN of its resource. */
  readonly #stamps = new Set<string>();
  /** For each id, the outputs that the last refresh found changed. */
  readonly #drift = new Map<string, readonly string[]>();

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** Notes the instance of a call. */
  observe(seen: Seen): void {
    const { id, urn = "", origin, stamp } = seen;
    const hashes = this.#tokenHashes.get(id) ?? new Set();
    if (origin) hashes.add(origin.tokenHash);
    this.#tokenHashes.set(id, hashes);
    if (!this.isFromState(seen)) return;
    this.proven.add(id);
    this.#stamps.add(`${stamp} ${urn}`);
  }

  /** Whether the outputs have the stamp of another session. Then a state held them. */
  isFromState({ stamp }: Seen): boolean {
    return stamp !== undefined && stamp !== this.#sessionId;
  }

  /** Notes that this resource holds the instance. Returns the URN of another one that was noted in this phase, if any. */
  hold({ urn, id }: { urn: string; id: string }, phase: Phase): string | undefined {
    const holders = this.#holders[phase].get(id) ?? new Set();
    holders.add(urn);
    this.#holders[phase].set(id, holders);
    return [...holders].find((holder) => holder !== urn);
  }

  /**
   * Whether a state held an instance that this session created for this resource. Its record may lack the id, if the disk
   * of the ledger was full.
   */
  hasFrom(sessionId: string, urn: string): boolean {
    return this.#stamps.has(`${sessionId} ${urn}`);
  }

  /** The observed ids. An instance may belong to another resource, so no create takes one over. */
  get ids(): Ids {
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

  /** Notes which outputs a refresh has found changed. Outputs that repeat an input are not among them. */
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
