/** Finds out from listings whether an instance exists. */
import type { ListItem } from "../api/contract";
import type { Listing, ListingSource } from "./listing";

/** What the listings show about one instance. */
export type SearchResult =
  | { kind: "found"; item: ListItem }
  /** Two complete listings in a row, a poll interval apart, lack the instance, the second not before `settledAt` (G3). */
  | { kind: "gone"; proof: Listing }
  /** A listing lacks the instance, but the listing is not complete and so proves nothing. */
  | { kind: "unproven"; incomplete: Listing }
  /** Two complete listings lack the instance, but have no id in common, so the service's ids are not reliable. */
  | { kind: "unstable" };

/**
 * Looks for the instance in listings that began after the session's last write.
 *
 * @throws the error of a failed listing, or the reason of `signal`
 */
export async function search(
  id: string,
  listings: ListingSource,
  /** `settledAt` is the clock time until which a listing may lack the instance although the instance exists. */
  { pollIntervalMs, settledAt }: { pollIntervalMs: number; settledAt: number },
  signal: AbortSignal,
): Promise<SearchResult> {
  const required = listings.recent();
  let previous: Listing | undefined;
  for (;;) {
    const listing = await listings.get(required, signal);
    const item = listing.items.get(id);
    if (item) return { kind: "found", item };
    if (!listing.complete) return { kind: "unproven", incomplete: listing };
    if (previous && haveNoIdInCommon(previous, listing)) return { kind: "unstable" };
    if (previous && listing.begunAt >= settledAt) return { kind: "gone", proof: listing };
    previous = listing;
    required.notBefore = listing.endedAt + pollIntervalMs;
  }
}

function haveNoIdInCommon({ items: some }: Listing, { items: others }: Listing): boolean {
  return some.size > 0 && others.size > 0 && ![...some.keys()].some((id) => others.has(id));
}
