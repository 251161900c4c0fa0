/**
 * What a session learns about Pulumi's state, from the calls of the engine or, in `audit`, from exported states. The
 * operations of instances use it.
 */
import type { Ledger } from "../ledger/ledger";
import { originFromState, wasInState, type Place } from "../origin";
import type { PropertyMap } from "../propertyValue";

/**
 * What a session knows of Pulumi's state. A provider can't read the state: it only sees the id and the outputs
 * that come with each call for a resource. The state has these outputs, or is about to have them.
 */
export class KnownState {
  readonly #ledger: Ledger;
  /** The service and token kind of the settings. */
  readonly #place: Place;
  readonly #sessionId: string;
  /** Maps the id of each instance that `observe` was called with to the hashes of the tokens in its recorded origins. */
  readonly #tokenHashes = new Map<string, Set<string>>();
  /** The ids of instances that are proven to have been in a state. */
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
   * finds them. If the stamp of another session in the outputs proves that a state held the instance, the
   * instance's records in the ledger get the stage `settled`.
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

  /** Whether it is proven that a state held this instance. */
  isProven(id: string): boolean {
    return this.#proven.has(id);
  }

  /**
   * Whether the listing shows an instance other than `id` whose recorded origin has this token hash. If so, the
   * listing is of the same tenant as that token, and may prove that `id` is gone (G3).
   */
  showsAnother(listed: ReadonlyMap<string, unknown>, id: string, tokenHash: string): boolean {
    return [...this.#tokenHashes].some(
      ([other, hashes]) => other !== id && hashes.has(tokenHash) && listed.has(other),
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
