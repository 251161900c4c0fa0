/**
 * What the calls of this session have told of the state: the engine shows a provider no more of it.
 * Only the stamp of another session proves that a state held an instance.
 */
import type { Ledger } from "../ledger/ledger";
import { originFromState, type Place } from "../origin";
import type { PropertyMap } from "../propertyValue";
import { wasInState } from "../stamp";

export class KnownState {
  /** The tokens that each carried instance was seen with, as hashes. */
  readonly #tokens = new Map<string, Set<string>>();
  /** Ids that a state held. */
  readonly #proven = new Set<string>();
  /** Resources that Check has met since they were last read: a Diff is of an update, not a refresh. */
  readonly #inUpdate = new Set<string>();

  constructor(
    private readonly ledger: Ledger,
    private readonly settings: Place,
    /** `Session.id`. */
    private readonly session: string,
  ) {}

  /**
   * A call carried this id and these outputs. That alone proves no state that holds them, and is enough
   * never to adopt the instance; the stamp of another session is proof.
   */
  observed(id: string, outputs: PropertyMap): void {
    const origin = originFromState(outputs);
    addTo(this.#tokens, id, origin?.tokenHash);
    if (!wasInState(outputs, this.session)) return;
    this.#proven.add(id);
    this.ledger.settleId(origin ?? this.settings, id, "state");
  }

  /** Check met this resource: what follows is an update. */
  checked(urn: string): void {
    this.#inUpdate.add(urn);
  }

  /** Read met this resource: a Diff that follows without a Check is a refresh's. */
  isRead(urn: string): void {
    this.#inUpdate.delete(urn);
  }

  isInUpdate(urn: string): boolean {
    return this.#inUpdate.has(urn);
  }

  /** Whether any call carried this id: it may be someone's, so it is not to be adopted. */
  hasId(id: string): boolean {
    return this.#tokens.has(id);
  }

  /** Whether it is proven that a state held this instance. */
  isProven(id: string): boolean {
    return this.#proven.has(id);
  }

  /**
   * Whether this listing shows another instance that was seen with the token of this hash: then it is
   * of the same tenant (G3).
   */
  showsAnother(listed: ReadonlyMap<string, unknown>, id: string, tokenHash: string): boolean {
    return [...this.#tokens].some(
      ([known, tokens]) => known !== id && tokens.has(tokenHash) && listed.has(known),
    );
  }
}

/** Adds to the set of this key, which is there from then on. */
function addTo(sets: Map<string, Set<string>>, key: string, value: string | undefined): void {
  const set = sets.get(key) ?? new Set<string>();
  sets.set(key, set);
  if (value !== undefined) set.add(value);
}
