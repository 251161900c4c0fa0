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

/**
 * Returns a function that is given each listing that began after the POST ended, and judges them together. It returns
 * undefined while nothing is proven.
 *
 * @param settledAt the clock time until which a listing may lack the instance, even if an earlier one had it
 */
export function createJudge(
  id: string,
  pollIntervalMs: number,
  settledAt: number,
): (listing: Listing) => WaitResult | undefined {
  let lastSeen: ListItem | undefined;
  /**
   * The end of the first complete listing without the instance, since it was last listed or a listing was incomplete.
   */
  let missingSince: number | undefined;
  /** How many incomplete listings, from `settledAt` on, showed all of PROVISIONING and lacked the instance. */
  let absentCount = 0;

  return ({ items, complete, completeStatuses, begunAt, endedAt }) => {
    const item = items.get(id);
    if (item) {
      lastSeen = item;
      missingSince = undefined;
      const isProvisioning = item.status === undefined || item.status === "PROVISIONING";
      return isProvisioning ? undefined : { kind: "provisioned", item };
    }
    if (begunAt < settledAt) return undefined;
    if (complete) {
      // An instance that was listed before is gone if two complete listings, a poll interval apart, lack it.
      if (missingSince !== undefined && begunAt >= missingSince + pollIntervalMs) {
        return { kind: "deleted" };
      }
      if (lastSeen) missingSince ??= endedAt;
      return undefined;
    }
    missingSince = undefined;
    if (!completeStatuses.has("PROVISIONING")) return undefined;
    absentCount++;
    // One listing may be wrong, so an instance that was never listed has to be absent twice.
    const hasLeftProvisioning = lastSeen !== undefined || absentCount >= 2;
    // The instance may be past the end of its new status's list, which is cut off.
    const mayBeCutOff = !completeStatuses.has("ACTIVE") || !completeStatuses.has("OFFLINE");
    return hasLeftProvisioning && mayBeCutOff ? { kind: "notListed", lastSeen } : undefined;
  };
}
