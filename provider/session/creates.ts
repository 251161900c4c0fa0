/** What a session knows of its own creates, and how many of them run at a time. */
import { raceAbort } from "../abort";
import { pageLimit } from "../api/serviceConstants";
import type { ListingSource } from "../evidence/listing";
import { KeyedLocks } from "../locks";
import type { PropertyMap } from "../propertyValue";
import { waits, type Operations } from "./operations";

/** An instance that exists but was not ready when its Create call ended. */
export interface Unfinished {
  /** The key of the create's record in the ledger. */
  key: string;
  id: string;
  outputs: PropertyMap;
  /** Only listings after this mark (`ListingSource.mark`) prove anything about the instance. */
  after: number;
}

/**
 * The creates of a session. To take over is to use an instance that exists instead of creating one. No create takes over an
 * instance of another create, and no delete of an older state entry destroys an instance that was taken over.
 */
export class Creates {
  /** Whether the engine has asked for a create. */
  haveBegun = false;
  /** By URN. If an error hook makes the engine repeat a create, the create continues with its unfinished instance. */
  readonly unfinished = new Map<string, Unfinished>();
  /** By id: whether a POST of this session made the instance, or it was taken over without being in a POST's response. */
  readonly instances = new Map<string, "made" | "takenOver">();
  readonly #listings: ListingSource;
  readonly #operations: Pick<Operations, "waiting">;
  readonly #locks = new KeyedLocks();
  /** For each name of an instance: the mark (`ListingSource.markWrite`) of the end of its last turn. */
  readonly #turnEndMarks = new Map<string, number>();

  constructor(listings: ListingSource, operations: Pick<Operations, "waiting">) {
    this.#listings = listings;
    this.#operations = operations;
  }

  /**
   * Runs `create` as soon as all earlier turns of this name have ended. A turn is the part of a Create call that ends
   * when the id of the instance is known, or when the call has failed.
   */
  async inTurn<T>(name: string, signal: AbortSignal, create: () => Promise<T>): Promise<T> {
    using wait = this.#operations.waiting(signal, waits.turn);
    return await this.#locks.run(name, signal, () => {
      wait[Symbol.dispose]();
      return create().finally(() => this.#turnEndMarks.set(name, this.#listings.markWrite()));
    });
  }

  /** Returns the mark of the last turn's end. Only listings after it show what that turn created. 0 if there was no turn. */
  turnEndMark(name: string): number {
    return this.#turnEndMarks.get(name) ?? 0;
  }
}

/**
 * Limits a session without a cursor (`compute:cursorParameter`) to 100 creates at a time. Without a cursor, a listing shows
 * only 100 instances of each status, and so every one in PROVISIONING only if there are at most 100. A create holds its slot
 * from before its baseline (the listing before the POST) until its call ends. One that continues with an existing instance
 * needs no slot.
 */
export class CreateSlots {
  #size: number;
  readonly #operations: Pick<Operations, "waiting">;
  /**
   * The URNs of the creates, each with the function that ends its wait. In the order in which they came, the first `#size`
   * of them hold a slot.
   */
  readonly #queue = new Map<string, () => void>();

  constructor({ hasCursor }: { hasCursor: boolean }, operations: Pick<Operations, "waiting">) {
    this.#size = hasCursor ? Infinity : pageLimit.max;
    this.#operations = operations;
  }

  /** The session lists without the cursor from now on. Creates that hold a slot keep it. */
  loseCursor(): void {
    this.#size = pageLimit.max;
  }

  /** Resolves once this URN holds a slot. Calls `onWait` first if it has to wait. Rejects with the reason of `signal`. */
  async enter(urn: string, signal: AbortSignal, onWait: () => void): Promise<void> {
    if (this.#queue.has(urn)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue.set(urn, resolve);
    if (this.#queue.size <= this.#size) return;
    onWait();
    using _wait = this.#operations.waiting(signal, waits.slot);
    await raceAbort(promise, signal).catch((error: unknown) => {
      this.leave(urn);
      throw error;
    });
  }

  /** Passes the slot of this URN, if it has one, to the create that has waited longest. */
  leave(urn: string): void {
    this.#queue.delete(urn);
    const endLastWait = [...this.#queue.values()][this.#size - 1];
    endLastWait?.();
  }
}
