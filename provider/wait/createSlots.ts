/**
 * At most 100 creates at a time where the service has no cursor: its listing then shows 100 instances of
 * each status, and an instance that is listed while it is PROVISIONING is seen with its address.
 */
import { raceAbort } from "../abort";
import { pageLimit } from "../api/serviceConstants";

/** The slots of a session's creates, each held from before the POST until the instance is ready. */
export class CreateSlots {
  readonly #size: number;
  readonly #holders = new Set<string>();
  /** By URN, in the order they came: those who wait for a slot. */
  readonly #waiting = new Map<string, () => void>();

  constructor({ hasCursor }: { hasCursor: boolean }) {
    this.#size = hasCursor ? Infinity : pageLimit.max;
  }

  /** Resolves once the create of this URN holds a slot. Calls `onHeld` if it has to wait. */
  async enter(urn: string, signal: AbortSignal, onHeld: () => void): Promise<void> {
    if (this.#holders.has(urn) || this.#holders.size < this.#size) {
      this.#holders.add(urn);
      return;
    }
    onHeld();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(urn, resolve);
    await raceAbort(promise, signal).finally(() => this.#waiting.delete(urn));
  }

  /** Hands the slot of this URN, if it holds one, to the create that has waited longest. */
  leave(urn: string): void {
    if (!this.#holders.delete(urn)) return;
    for (const [next, resolve] of this.#waiting) {
      this.#waiting.delete(next);
      this.#holders.add(next);
      return resolve();
    }
  }
}
