/** What a session learns about Pulumi's state, from the calls or, in commands, from exported states. */
import type { Ids } from "../evidence/witness";
import type { Origin } from "../origin";

/** What the outputs in a call, or in an exported state, say of an instance. */
export interface Seen {
  readonly id: string;
  readonly origin: Origin | undefined;
  /** The id of the session that created, took over or looked up the instance. */
  readonly stamp?: string | undefined;
  /** Whether it was not ready when last seen. */
  readonly isUnfinished?: boolean;
}

/**
 * What a session knows of Pulumi's state. A provider can't read the state. It sees only the ids and outputs in the engine's
 * calls, and some of these are in no state, such as those of an import in a preview.
 */
export class KnownState {
  /** The ids of the instances that were not ready when a call showed them, or that a call has waited for. */
  readonly unfinished = new Set<string>();
  /** The ids that calls have shown (but for the Read of a `.get()`), each with the token hashes in its origins (`__origin`). */
  readonly #tokenHashes = new Map<string, Set<string>>();

  /** Notes the instance of a call. */
  noteShown({ id, origin, isUnfinished }: Seen): void {
    if (isUnfinished) this.unfinished.add(id);
    const hashes = this.#tokenHashes.get(id) ?? new Set();
    if (origin) hashes.add(origin.tokenHash);
    this.#tokenHashes.set(id, hashes);
  }

  /** The ids that `noteShown` was given. The instances may be other resources', so no create takes them over. */
  get shown(): Ids {
    return this.#tokenHashes;
  }

  /**
   * Returns the ids of the other instances that were recorded with the token of this instance. A listing that shows one of
   * them is of that token's tenant, and may prove that the instance is gone (G3). Undefined if no voucher is needed: the
   * configured token is the recorded one, or none is recorded, as in an import.
   */
  vouchersOf({ id, origin }: Seen, { tokenHash }: Origin): ReadonlySet<string> | undefined {
    if (origin === undefined || origin.tokenHash === tokenHash) return undefined;
    const others = [...this.#tokenHashes].filter(
      ([seenId, hashes]) => seenId !== id && hashes.has(origin.tokenHash),
    );
    return new Set(others.map(([seenId]) => seenId));
  }
}
