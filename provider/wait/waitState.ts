/** What a series of listings proves about one instance that is waited for (G3). */
import type { ListItem } from "../api/contract";
import type { Listing } from "../listing/listing";

export type Verdict =
  /** Listed, and no longer PROVISIONING. */
  | { kind: "settled"; item: ListItem }
  /** No longer PROVISIONING, but no listing can show it: there are too many instances. */
  | { kind: "notListed"; lastSeen: ListItem | undefined }
  /** Was listed once, and is proven gone (G3). */
  | { kind: "deleted" };

export class WaitState {
  #seen: ListItem | undefined;
  #lackedProvisioning = 0;
  #firstLack: Listing | undefined;

  constructor(
    private readonly id: string,
    private readonly pollIntervalMs: number,
    /**
     * Clock time at which the settling time since its 202 is over. That a listing begun before lacks it
     * proves nothing, even if another has shown it: a replica may lag.
     */
    private readonly settledAt: number,
  ) {}

  /** Takes in the next listing, begun after the instance was accepted. */
  see(listing: Listing): Verdict | undefined {
    const item = listing.items.get(this.id);
    if (item) {
      this.#seen = item;
      this.#firstLack = undefined;
      return item.status === undefined || item.status === "PROVISIONING"
        ? undefined
        : { kind: "settled", item };
    }
    if (listing.begunAt < this.settledAt) return undefined;
    return listing.complete ? this.#lackedByAll(listing) : this.#lackedBySome(listing);
  }

  /** Absent from a complete listing: gone if an earlier one had it (two have to agree), else not listed yet. */
  #lackedByAll(listing: Listing): Verdict | undefined {
    if (!this.#seen) return undefined;
    if (!this.#firstLack) {
      this.#firstLack = listing;
      return undefined;
    }
    const apart = listing.begunAt - this.#firstLack.endedAt;
    return apart >= this.pollIntervalMs ? { kind: "deleted" } : undefined;
  }

  #lackedBySome({ completeStatuses }: Listing): Verdict | undefined {
    this.#firstLack = undefined;
    if (!completeStatuses.has("PROVISIONING")) return undefined;
    this.#lackedProvisioning++;
    const left = this.#seen !== undefined || this.#lackedProvisioning >= 2;
    const couldHide = !completeStatuses.has("ACTIVE") || !completeStatuses.has("OFFLINE");
    return left && couldHide ? { kind: "notListed", lastSeen: this.#seen } : undefined;
  }
}
