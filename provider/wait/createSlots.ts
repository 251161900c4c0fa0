/**
 * Limits a session to 100 creates at a time if no cursor is configured. Without a cursor, a listing shows only 100
 * instances of each status. With at most 100 in PROVISIONING, each is listed, and is seen with its address.
 */
import { raceAbort } from "../abort";
import { pageLimit } from "../api/serviceConstants";

/** The slots of a session's creates, each held from before the POST until the instance is ready. */
export class CreateSlots {
  readonly #size: number;
  readonly #holders = new Set<string>();
  /** The creates that wait for a slot, in the order they came: the URN, and the function that ends the wait. */
  readonly #waiting = new Map<string, () => void>();

  constructor({ hasCursor }: { hasCursor: boolean }) {
    this.#size = hasCursor ? Infinity : pageLimit.max;
  }

  /** Resolves once the create of this URN holds a slot. Calls `onWait` first if the create has to wait. */
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
