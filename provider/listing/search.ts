/** Whether an instance exists, with the proof that G3 asks for before it is called gone. */
import type { ListItem } from "../api/contract";
import type { Listing, ListingSource } from "./listing";

export type SearchResult =
  | { kind: "found"; item: ListItem }
  /** Lacking in two unfiltered complete listings, a poll interval apart. */
  | { kind: "gone"; proof: Listing }
  /** Lacking in a listing that was not complete: no evidence. */
  | { kind: "unproven"; incomplete: Listing }
  /** Lacking in two complete listings that have no id in common: these ids are not to be relied on. */
  | { kind: "unstable" };

export interface SearchOptions {
  pollIntervalMs: number;
  /** Until then (clock time) it may not be listed yet, so that it can't be called gone. */
  settledAt: number;
}

export async function search(
  id: string,
  listings: ListingSource,
  { pollIntervalMs, settledAt }: SearchOptions,
  signal: AbortSignal,
): Promise<SearchResult> {
  const { after = 0, ...fresh } = listings.recent;
  let lacking: Listing | undefined;
  for (;;) {
    const need = lacking ? { notBefore: lacking.endedAt + pollIntervalMs } : fresh;
    const listing = await listings.get({ after, ...need }, signal);
    const item = listing.items.get(id);
    if (item) return { kind: "found", item };
    if (!listing.complete) return { kind: "unproven", incomplete: listing };
    if (lacking && areStrangers(lacking, listing)) return { kind: "unstable" };
    if (lacking && listing.begunAt >= settledAt) return { kind: "gone", proof: listing };
    lacking = listing;
  }
}

function areStrangers({ items: some }: Listing, { items: others }: Listing): boolean {
  return some.size > 0 && others.size > 0 && ![...some.keys()].some((id) => others.has(id));
}
