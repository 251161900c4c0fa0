/** Judges what a series of listings proves about an instance that the poller waits for. */
import type { ListItem } from "../api/contract";
import type { Listing } from "../listing/listing";

/** How the wait for an instance ended. */
export type WaitResult =
  /** The instance is listed with a status other than PROVISIONING. */
  | { kind: "provisioned"; item: ListItem }
  /** The instance has left PROVISIONING, but a listing that is not complete does not show the instance. */
  | { kind: "notListed"; lastSeen: ListItem | undefined }
  /** The instance was listed before, and is now proven gone (guarantee G3). */
  | { kind: "deleted" };

/** The state of the wait for one instance. */
export class WaitState {
  readonly #id: string;
  readonly #pollIntervalMs: number;
  readonly #settledAt: number;
  #lastSeen: ListItem | undefined;
  /** The first of the complete listings that have lacked the instance since it was last listed. */
  #firstWithout: Listing | undefined;
  /** How many listings lacked the instance that showed every instance in PROVISIONING, but were not complete. */
  #absentCount = 0;

  /** @param settledAt the clock time until which a listing may lack the instance, even if an earlier one had it */
  constructor(id: string, pollIntervalMs: number, settledAt: number) {
    this.#id = id;
    this.#pollIntervalMs = pollIntervalMs;
    this.#settledAt = settledAt;
  }

  /** Judges the next listing, which began after the POST ended. Returns undefined while nothing is proven. */
  judge(listing: Listing): WaitResult | undefined {
    const item = listing.items.get(this.#id);
    if (item) {
      this.#lastSeen = item;
      this.#firstWithout = undefined;
      const isProvisioning = item.status === undefined || item.status === "PROVISIONING";
      return isProvisioning ? undefined : { kind: "provisioned", item };
    }
    if (listing.begunAt < this.#settledAt) return undefined;
    return listing.complete ? this.#judgeComplete(listing) : this.#judgePartial(listing);
  }

  /** An instance that was listed before is gone if two complete listings, a poll interval apart, lack it. */
  #judgeComplete(listing: Listing): WaitResult | undefined {
    if (!this.#lastSeen) return undefined;
    this.#firstWithout ??= listing;
    const apartMs = listing.begunAt - this.#firstWithout.endedAt;
    const isSecond = listing !== this.#firstWithout && apartMs >= this.#pollIntervalMs;
    return isSecond ? { kind: "deleted" } : undefined;
  }

  #judgePartial({ completeStatuses }: Listing): WaitResult | undefined {
    this.#firstWithout = undefined;
    if (!completeStatuses.has("PROVISIONING")) return undefined;
    this.#absentCount++;
    // One listing may be wrong, so an instance that was never listed has to be absent twice.
    const hasLeft = this.#lastSeen !== undefined || this.#absentCount >= 2;
    // The list of its new status may be cut off before the instance.
    const mayBeCutOff = !completeStatuses.has("ACTIVE") || !completeStatuses.has("OFFLINE");
    return hasLeft && mayBeCutOff ? { kind: "notListed", lastSeen: this.#lastSeen } : undefined;
  }
}
