/**
 * Judges what a series of listings proves about one instance. The poller uses it to end the wait for the instance.
 * An instance counts as gone only with proof (G3).
 */
import type { ListItem } from "../api/contract";
import type { Listing } from "../listing/listing";

/** The result of the wait for an instance. */
export type WaitResult =
  /** The instance is listed with a status other than PROVISIONING. */
  | { kind: "provisioned"; item: ListItem }
  /** The instance has left PROVISIONING, but a listing that is not complete does not show the instance. */
  | { kind: "notListed"; lastSeen: ListItem | undefined }
  /** The instance was listed before, and is now proven gone. */
  | { kind: "deleted" };

/** The state of the wait for one instance. The poller passes the listings to `judge`, one after the other. */
export class WaitState {
  readonly #id: string;
  readonly #pollIntervalMs: number;
  /** The clock time until which a listing may lack the instance. */
  readonly #settledAt: number;
  /** The instance as a listing last showed it. */
  #lastSeen: ListItem | undefined;
  /** The first of the latest complete listings in a row that lack the instance. */
  #firstWithout: Listing | undefined;
  /** How many listings that are not complete, but show every instance in PROVISIONING, lacked the instance. */
  #absentCount = 0;

  /** @param settledAt the clock time until which a listing may lack the instance, even if an earlier one had it */
  constructor(id: string, pollIntervalMs: number, settledAt: number) {
    this.#id = id;
    this.#pollIntervalMs = pollIntervalMs;
    this.#settledAt = settledAt;
  }

  /** Judges the next listing, which began after the POST ended. Returns undefined as long as nothing is proven. */
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

  /**
   * Judges a complete listing that lacks the instance. Two such listings, a poll interval apart, prove that the
   * instance is gone. An instance that was never listed may still appear.
   */
  #judgeComplete(listing: Listing): WaitResult | undefined {
    if (!this.#lastSeen) return undefined;
    this.#firstWithout ??= listing;
    const apartMs = listing.begunAt - this.#firstWithout.endedAt;
    const isSecond = listing !== this.#firstWithout && apartMs >= this.#pollIntervalMs;
    return isSecond ? { kind: "deleted" } : undefined;
  }

  /** Judges a listing that lacks the instance and is not complete. */
  #judgePartial({ completeStatuses }: Listing): WaitResult | undefined {
    this.#firstWithout = undefined;
    if (!completeStatuses.has("PROVISIONING")) return undefined;
    this.#absentCount++;
    const hasLeft = this.#lastSeen !== undefined || this.#absentCount >= 2;
    const mayBeUnlisted = !completeStatuses.has("ACTIVE") || !completeStatuses.has("OFFLINE");
    return hasLeft && mayBeUnlisted ? { kind: "notListed", lastSeen: this.#lastSeen } : undefined;
  }
}
