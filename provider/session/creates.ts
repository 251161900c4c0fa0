/**
 * What a session knows of its own creates, and how many of them run at a time. The create and the delete of an
 * instance use this file.
 */
import { raceAbort } from "../abort";
import { pageLimit } from "../api/serviceConstants";
import type { ListingSource } from "../listing/listing";
import { KeyedLocks } from "../locks";
import type { PropertyMap } from "../propertyValue";

/** An instance that exists but was not ready when its Create call ended. The engine got the error `InstanceUnfinished`. */
export interface Unfinished {
  /** The key of the create's record in the ledger. */
  key: string;
  id: string;
  outputs: PropertyMap;
  /**
   * Listings that began before this mark prove nothing about the instance. A mark is a number in the order of this
   * process's listings and writes (`ListingSource.mark`).
   */
  after: number;
}

/**
 * Makes creates of one name wait for each other until their ids are known, and keeps the ids of the session's instances.
 * To take over is to use an instance that already exists instead of creating one. With the ids, no create takes over an
 * instance of another create of the session. And no delete of an older state entry destroys an instance that a resource
 * of this session has taken over.
 */
export class Creates {
  readonly #listings: ListingSource;
  readonly #locks = new KeyedLocks();
  /** For each instance name: the mark (`ListingSource.markWrite`) when the last turn of the name (see `inTurn`) ended. */
  readonly #turnEndMarks = new Map<string, number>();
  /** The ids of the instances that this session has created or taken over. */
  readonly #ids = new Set<string>();
  /** The ids of the instances that this session has taken over. They are in `#ids` too. */
  readonly #takenOver = new Set<string>();
  /** The unfinished instances, by the URN of their resources. */
  readonly #unfinished = new Map<string, Unfinished>();

  constructor(listings: ListingSource) {
    this.#listings = listings;
  }

  /**
   * Runs `create` as soon as all earlier turns of this name have ended. A turn is the part of a Create call that ends
   * when the id of the instance is known, or when the call has failed.
   */
  inTurn<T>(name: string, signal: AbortSignal, create: () => Promise<T>): Promise<T> {
    return this.#locks.run(name, signal, create);
  }

  /**
   * Notes that a turn of this name ends now. Before its POST, the next create of the name uses a listing that begins
   * later.
   */
  noteTurnEnd(name: string): void {
    this.#turnEndMarks.set(name, this.#listings.markWrite());
  }

  /** Returns the mark of the last `noteTurnEnd` of this name, or 0 if there was none. A mark is not a time. */
  turnEndMark(name: string): number {
    return this.#turnEndMarks.get(name) ?? 0;
  }

  /** Notes that this session has created the instance. */
  noteMade(id: string): void {
    this.#ids.add(id);
  }

  /**
   * Notes that this session has taken over an instance that was not in the response to its own POST: a listing showed
   * the instance after a POST with an unclear outcome, or the search for an earlier create found the instance.
   */
  noteTakenOver(id: string): void {
    this.#ids.add(id);
    this.#takenOver.add(id);
  }

  /** Whether this session has created the instance or taken it over. */
  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Whether this session has taken the instance over. */
  hasTakenOver(id: string): boolean {
    return this.#takenOver.has(id);
  }

  /**
   * Notes that the create of this resource left an instance unfinished. An error hook of the program may make the
   * engine repeat the create, and the repeated create then continues with this instance.
   */
  noteUnfinished(urn: string, unfinished: Unfinished): void {
    this.#unfinished.set(urn, unfinished);
  }

  /** Returns the instance that an earlier create of this resource left unfinished, if any. */
  unfinished(urn: string): Unfinished | undefined {
    return this.#unfinished.get(urn);
  }
}

/**
 * Limits a session to 100 creates at a time if no cursor (`compute:cursorParameter`) is configured. Without a cursor, a
 * listing shows only 100 instances of each status. As long as at most 100 are in PROVISIONING, a listing shows every one
 * of them, and so their addresses too. A create that sends a POST holds its slot from before its listing of the existing
 * instances until its call ends. A create that continues with an existing instance needs no slot.
 */
export class CreateSlots {
  readonly #size: number;
  /** The URNs of the creates that hold a slot. */
  readonly #holders = new Set<string>();
  /** For each create that waits for a slot: its URN, and the function that ends the wait. The longest wait comes first. */
  readonly #waiting = new Map<string, () => void>();

  constructor({ hasCursor }: { hasCursor: boolean }) {
    this.#size = hasCursor ? Infinity : pageLimit.max;
  }

  /**
   * Resolves once the create of this URN holds a slot, at once if the URN has one already. Calls `onWait` first if the
   * create has to wait. Rejects with the reason of `signal`.
   */
  async enter(urn: string, signal: AbortSignal, onWait: () => void): Promise<void> {
    if (this.#holders.has(urn) || this.#holders.size < this.#size) {
      this.#holders.add(urn);
      return;
    }
    onWait();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(urn, resolve);
    await raceAbort(promise, signal).finally(() => this.#waiting.delete(urn));
  }

  /** Passes the slot of this URN to the create that has waited longest. Does nothing if the URN has no slot. */
  leave(urn: string): void {
    if (!this.#holders.delete(urn)) return;
    for (const [nextUrn, resolve] of this.#waiting) {
      this.#waiting.delete(nextUrn);
      this.#holders.add(nextUrn);
      return resolve();
    }
  }
}
