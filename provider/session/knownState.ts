/**
 * What a session learns about Pulumi's state, from the calls of the engine or, in `audit`, from exported states. The
 * operations of instances use it.
 */
import type { Ledger } from "../ledger/ledger";
import { originFromState, wasInState, type Place } from "../origin";
import type { PropertyMap } from "../propertyValue";

/**
 * What a session knows of Pulumi's state. A provider can't read the state: it only sees the id and the outputs that come
 * with each call for a resource. The state often has these outputs, but not always (see `isProven`).
 */
export class KnownState {
  readonly #ledger: Ledger;
  /** The service and token kind of the settings. */
  readonly #place: Place;
  readonly #sessionId: string;
  /**
   * The ids that `observe` was called with, and for each id the token hashes in the recorded origins. An origin (`__origin`
   * in the outputs) says which service and which token an instance comes from.
   */
  readonly #tokenHashes = new Map<string, Set<string>>();
  /** The ids of the instances that a state is proven to have held. */
  readonly #proven = new Set<string>();
  /** The URNs of the resources for which Check was called after their last Read. */
  readonly #inUpdate = new Set<string>();
  /** Maps the id of an instance to the outputs that its last refresh found changed. */
  readonly #drift = new Map<string, readonly string[]>();

  constructor(ledger: Ledger, place: Place, sessionId: string) {
    this.#ledger = ledger;
    this.#place = place;
    this.#sessionId = sessionId;
  }

  /**
   * Notes the id and the outputs of an instance. Every Diff, Update, Delete and refresh comes with both, and an import
   * finds them. The stamp (`__run` in the outputs) is the id of the session that made the outputs. The stamp of another
   * session proves that a state held the instance. Then the ledger no longer needs the instance's records, and they get
   * the stage `settled`.
   */
  observe(id: string, outputs: PropertyMap): void {
    const origin = originFromState(outputs);
    const hashes = this.#tokenHashes.get(id) ?? new Set();
    if (origin) hashes.add(origin.tokenHash);
    this.#tokenHashes.set(id, hashes);
    if (!wasInState(outputs, this.#sessionId)) return;
    this.#proven.add(id);
    this.#ledger.settleId(origin ?? this.#place, id, "state");
  }

  /** Whether `observe` was called with this id. The instance may belong to another resource, so no create takes it over. */
  hasId(id: string): boolean {
    return this.#tokenHashes.has(id);
  }

  /** Whether it is proven that a state held this instance. The engine also sends ids that no state holds (`wasInState`). */
  isProven(id: string): boolean {
    return this.#proven.has(id);
  }

  /**
   * Whether the listing shows an instance other than `id` whose recorded origin has this token hash. If so, the listing
   * is of the same tenant as that token, and may be used to prove that `id` is gone (an instance counts as gone only with
   * proof, G3).
   */
  showsAnother(listed: ReadonlyMap<string, unknown>, id: string, tokenHash: string): boolean {
    return [...this.#tokenHashes].some(
      ([seenId, hashes]) => seenId !== id && hashes.has(tokenHash) && listed.has(seenId),
    );
  }

  /** Called for each Check. From now on, a Diff of this resource is part of an update. */
  beginUpdate(urn: string): void {
    this.#inUpdate.add(urn);
  }

  /** Called for each Read. From now on, until a Check, a Diff of this resource is part of a refresh. */
  beginRefresh(urn: string): void {
    this.#inUpdate.delete(urn);
  }

  /** Whether a Diff of this resource would now be part of an update (or of an import), and not of a refresh. */
  isInUpdate(urn: string): boolean {
    return this.#inUpdate.has(urn);
  }

  /** Whether a Check has come for any resource that no Read has refreshed since. */
  get hasUpdates(): boolean {
    return this.#inUpdate.size > 0;
  }

  /** Notes which outputs, other than inputs, a refresh has found changed at the service. */
  noteDrift(id: string, outputs: readonly string[]): void {
    this.#drift.set(id, outputs);
  }

  /** Returns and forgets what `noteDrift` noted of the instance. */
  takeDrift(id: string): readonly string[] {
    const outputs = this.#drift.get(id) ?? [];
    this.#drift.delete(id);
    return outputs;
  }
}
