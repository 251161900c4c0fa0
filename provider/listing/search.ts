/** Whether an instance exists, with the proof that G3 asks for before it is called gone. */
import type { ListItem } from "../api/contract";
import type { Listing, ListingSource } from "./listing";

/** What the listings show of one instance. */
export type SearchResult =
  | { kind: "found"; item: ListItem }
  /** Two complete listings, begun a poll interval apart, lack the instance. */
  | { kind: "gone"; proof: Listing }
  /** A listing that is not complete lacks the instance: no evidence. */
  | { kind: "unproven"; incomplete: Listing }
  /** Two complete listings lack the instance, and have no id in common: the ids can't be relied on. */
  | { kind: "unstable" };

/**
 * Looks for the instance in listings begun after this process's last write, until one of the results is
 * certain.
 *
 * @throws whatever a failed listing throws, and the reason of `signal`
 */
export async function search(
  id: string,
  listings: ListingSource,
  /** `settledAt`: clock time until which a listing may lack the instance although it exists. */
  { pollIntervalMs, settledAt }: { pollIntervalMs: number; settledAt: number },
  signal: AbortSignal,
): Promise<SearchResult> {
  const { after = 0, ...recent } = listings.recent;
  let previous: Listing | undefined;
  for (;;) {
    const age = previous ? { notBefore: previous.endedAt + pollIntervalMs } : recent;
    const listing = await listings.get({ after, ...age }, signal);
    const item = listing.items.get(id);
    if (item) return { kind: "found", item };
    if (!listing.complete) return { kind: "unproven", incomplete: listing };
    if (previous && haveNoIdInCommon(previous, listing)) return { kind: "unstable" };
    if (previous && listing.begunAt >= settledAt) return { kind: "gone", proof: listing };
    previous = listing;
  }
}

function haveNoIdInCommon({ items: some }: Listing, { items: others }: Listing): boolean {
  return some.size > 0 && others.size > 0 && ![...some.keys()].some((id) => others.has(id));
}
