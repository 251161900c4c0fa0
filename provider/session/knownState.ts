import type { Ledger } from "../ledger/ledger";
import { originFromState, wasInState, type Place } from "../origin";
import type { PropertyMap } from "../propertyValue";

/**
 * What a session knows of Pulumi's state. The engine shows a provider no more of the state than its calls for
 * single resources carry: an id, and the outputs that the state has for it, or is about to have.
 */
export class KnownState {
  readonly #ledger: Ledger;
  readonly #configured: Place;
  readonly #sessionId: string;
  /** By the id of each instance that a call named: hashes of the tokens it was seen with. */
  readonly #tokenHashes = new Map<string, Set<string>>();
  /** Ids of instances that a state surely held. */
  readonly #proven = new Set<string>();
  /** URNs of the resources that Check has seen since their last Read. */
  readonly #inUpdate = new Set<string>();

  constructor(ledger: Ledger, configured: Place, sessionId: string) {
    this.#ledger = ledger;
    this.#configured = configured;
    this.#sessionId = sessionId;
  }

  /**
   * A call came with this id and these outputs. Where the outputs prove that a state held the instance, the
   * ledger's records of it are settled.
   */
  observe(id: string, outputs: PropertyMap): void {
    const origin = originFromState(outputs);
    const hashes = this.#tokenHashes.get(id) ?? new Set();
    if (origin) hashes.add(origin.tokenHash);
    this.#tokenHashes.set(id, hashes);
    if (!wasInState(outputs, this.#sessionId)) return;
    this.#proven.add(id);
    this.#ledger.settleId(origin ?? this.#configured, id, "state");
  }

  /** Whether a call came with this id: the instance may be someone's, so no create takes it over. */
  hasId(id: string): boolean {
    return this.#tokenHashes.has(id);
  }

  /** Whether it is proven that a state held this instance. */
  isProven(id: string): boolean {
    return this.#proven.has(id);
  }

  /**
   * Whether this listing shows another instance that was seen with the token of this hash. Then the listing
   * is of the same tenant as that token (G3).
   */
  showsAnother(listed: ReadonlyMap<string, unknown>, id: string, tokenHash: string): boolean {
    return [...this.#tokenHashes].some(
      ([other, hashes]) => other !== id && hashes.has(tokenHash) && listed.has(other),
    );
  }

  /** Check came for this resource: a Diff that follows is an update's. */
  beginUpdate(urn: string): void {
    this.#inUpdate.add(urn);
  }

  /** Read came for this resource: a Diff that follows without a Check is a refresh's. */
  beginRefresh(urn: string): void {
    this.#inUpdate.delete(urn);
  }

  /** Whether the next Diff of this resource is an update's. */
  isInUpdate(urn: string): boolean {
    return this.#inUpdate.has(urn);
  }
}
