import type { ListingSource } from "../listing/listing";
import { KeyedLocks } from "../locks";
import type { PropertyMap } from "../propertyValue";

/** An instance whose create was answered with `InstanceUnfinished`. */
export interface Unfinished {
  /** Of its record in the ledger. */
  key: string;
  id: string;
  outputs: PropertyMap;
  /** Only a listing begun after this mark (`Listings.markWrite`) can show the instance. */
  after: number;
}

/**
 * The creates of a session, one of each name at a time, and the instances that came of them. No create takes
 * over an instance of another create here, and no delete destroys an instance that was taken over here.
 */
export class Creates {
  readonly #listings: ListingSource;
  readonly #locks = new KeyedLocks();
  /** By name: the mark (`Listings.markWrite`) at which the outcome of its last POST was decided. */
  readonly #settledAt = new Map<string, number>();
  /** Ids of the instances that were created or taken over. */
  readonly #ids = new Set<string>();
  readonly #takenOver = new Set<string>();
  /** By the resource's URN. */
  readonly #unfinished = new Map<string, Unfinished>();

  constructor(listings: ListingSource) {
    this.#listings = listings;
  }

  /** Runs `create` once no other create of this name is under way. */
  inTurn<T>(name: string, signal: AbortSignal, create: () => Promise<T>): Promise<T> {
    return this.#locks.run(name, signal, create);
  }

  /** The outcome of this name's POST is decided: the baseline of its next create is begun after that. */
  noteSettled(name: string): void {
    this.#settledAt.set(name, this.#listings.markWrite());
  }

  /** The mark of the last `noteSettled` of this name; 0 where there is none. */
  settledAt(name: string): number {
    return this.#settledAt.get(name) ?? 0;
  }

  /** This session has created the instance. */
  noteMade(id: string): void {
    this.#ids.add(id);
  }

  /** This session has taken over an instance of an earlier, unanswered create. */
  noteTakenOver(id: string): void {
    this.#ids.add(id);
    this.#takenOver.add(id);
  }

  /** Whether this session has created the instance, or taken it over. */
  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Whether this session has taken the instance over. */
  hasTakenOver(id: string): boolean {
    return this.#takenOver.has(id);
  }

  /** An error hook may make the engine ask again: that create then goes on with this instance. */
  noteUnfinished(urn: string, unfinished: Unfinished): void {
    this.#unfinished.set(urn, unfinished);
  }

  /** The instance that an earlier create of this resource left unfinished. */
  unfinished(urn: string): Unfinished | undefined {
    return this.#unfinished.get(urn);
  }
}
