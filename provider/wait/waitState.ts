/** What the listings so far prove about one instance that is waited for (G3). */
import type { ListItem } from "../api/contract";
import type { Listing } from "../listing/listing";

/** How the wait for an instance has ended. */
export type WaitResult =
  /** It is listed with another status than PROVISIONING. */
  | { kind: "settled"; item: ListItem }
  /** It has left PROVISIONING, but there are too many instances for a listing to show it. */
  | { kind: "notListed"; lastSeen: ListItem | undefined }
  /** It was listed, and is now proven gone (G3). */
  | { kind: "deleted" };

/** Judges the listings of one instance, one after the other. */
export class WaitState {
  readonly #id: string;
  readonly #pollIntervalMs: number;
  readonly #settledAt: number;
  #lastSeen: ListItem | undefined;
  /** The first of the complete listings in a row that lack the instance. */
  #firstWithout: Listing | undefined;
  /** How many complete listings of PROVISIONING lacked the instance. */
  #absentFromProvisioning = 0;

  /** @param settledAt clock time until which a listing may lack the instance, even after one showed it */
  constructor(id: string, pollIntervalMs: number, settledAt: number) {
    this.#id = id;
    this.#pollIntervalMs = pollIntervalMs;
    this.#settledAt = settledAt;
  }

  /** Takes the next listing, begun after the 202. Undefined while nothing is proven. */
  see(listing: Listing): WaitResult | undefined {
    const item = listing.items.get(this.#id);
    if (item) {
      this.#lastSeen = item;
      this.#firstWithout = undefined;
      const isProvisioning = item.status === undefined || item.status === "PROVISIONING";
      return isProvisioning ? undefined : { kind: "settled", item };
    }
    if (listing.begunAt < this.#settledAt) return undefined;
    return listing.complete ? this.#seeComplete(listing) : this.#seePartial(listing);
  }

  /** Gone takes two complete listings, a poll interval apart. What was never listed may yet appear. */
  #seeComplete(listing: Listing): WaitResult | undefined {
    if (!this.#lastSeen) return undefined;
    this.#firstWithout ??= listing;
    const apartMs = listing.begunAt - this.#firstWithout.endedAt;
    const isSecond = listing !== this.#firstWithout && apartMs >= this.#pollIntervalMs;
    return isSecond ? { kind: "deleted" } : undefined;
  }

  #seePartial({ completeStatuses }: Listing): WaitResult | undefined {
    this.#firstWithout = undefined;
    if (!completeStatuses.has("PROVISIONING")) return undefined;
    this.#absentFromProvisioning++;
    const hasLeft = this.#lastSeen !== undefined || this.#absentFromProvisioning >= 2;
    const mayBeUnlisted = !completeStatuses.has("ACTIVE") || !completeStatuses.has("OFFLINE");
    return hasLeft && mayBeUnlisted ? { kind: "notListed", lastSeen: this.#lastSeen } : undefined;
  }
}
