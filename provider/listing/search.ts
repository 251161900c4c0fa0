/** Whether an instance exists, with the proof that G3 asks for before it is called gone. */
import type { ListItem } from "../api/contract";
import type { Listings } from "./listings";
import type { Snapshot } from "./snapshot";

export type SearchResult =
  | { kind: "found"; item: ListItem }
  /** Lacking in two unfiltered complete listings, a poll interval apart. */
  | { kind: "gone"; proof: Snapshot }
  /** Lacking in a listing that was not complete: no evidence. */
  | { kind: "unproven"; incomplete: Snapshot }
  /** Lacking in two complete listings that have no id in common: these ids are not to be relied on. */
  | { kind: "unstable" };

export interface SearchOptions {
  pollIntervalMs: number;
  /** Until then (clock time) it may not be listed yet, so that it can't be called gone. */
  settledAt: number;
}

export async function search(
  id: string,
  listings: Listings,
  { pollIntervalMs, settledAt }: SearchOptions,
  signal: AbortSignal,
): Promise<SearchResult> {
  const { after = 0, ...fresh } = listings.shareable;
  let lacking: Snapshot | undefined;
  for (;;) {
    const need = lacking ? { notBefore: lacking.endedAt + pollIntervalMs } : fresh;
    const snapshot = await listings.get({ after, ...need }, signal);
    const item = snapshot.items.get(id);
    if (item) return { kind: "found", item };
    if (!snapshot.complete) return { kind: "unproven", incomplete: snapshot };
    if (lacking && areStrangers(lacking, snapshot)) return { kind: "unstable" };
    if (lacking && snapshot.begunAt >= settledAt) return { kind: "gone", proof: snapshot };
    lacking = snapshot;
  }
}

function areStrangers({ items: some }: Snapshot, { items: others }: Snapshot): boolean {
  return some.size > 0 && others.size > 0 && ![...some.keys()].some((id) => others.has(id));
}
