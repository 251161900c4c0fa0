/**
 * Takes one listing, as whole as the service allows: unfiltered first; on with the cursor, where one is
 * configured and proves to page; otherwise one listing per status, which finds instances but never
 * proves absence (G3).
 */
import type { ComputeApi, Page } from "../api/client";
import type { ListItem } from "../api/contract";
import { pageLimit, type InstanceStatus } from "../api/documented";
import { RequestError } from "../api/errors";
import type { Listing } from "./listing";

type Findings = Pick<Listing, "items" | "complete" | "unreadable" | "completeStatuses">;

/** An instance that moves on between two requests is seen twice rather than not at all. */
const statusOrder: readonly InstanceStatus[] = ["PROVISIONING", "ACTIVE", "OFFLINE"];

/** Far beyond any tenant the service's rate limit would let anyone list. */
const mostPages = 500;

type Pager = Pick<ComputeApi, "listPage">;

interface CollectOptions {
  cursorParameter: string | undefined;
  onCursorIgnored: (why: string) => void;
  /** Smaller pages than the service allows show whether it pages, without hundreds of instances. */
  pageSize?: number;
}

export async function collect(
  api: Pager,
  { cursorParameter, onCursorIgnored, pageSize: limit = pageLimit.max }: CollectOptions,
  signal: AbortSignal,
): Promise<Findings> {
  const seen = new Seen();
  const first = await api.listPage({ limit }, signal);
  seen.add(first);
  let whole = !first.hasMore;
  if (!whole && cursorParameter) {
    const by = { parameter: cursorParameter, limit };
    const ignored = await followCursor(api, by, first, seen, signal);
    whole = ignored === undefined;
    if (ignored !== undefined) onCursorIgnored(ignored);
  }

  const completeStatuses = new Set<InstanceStatus>();
  if (!whole) {
    for (const status of statusOrder) {
      const page = await api.listPage({ limit: pageLimit.max, status }, signal);
      // Its unreadable items need no counting: this listing is not complete anyhow.
      for (const item of page.items) seen.items.set(item.id, item);
      if (!page.hasMore && page.unreadable === 0) completeStatuses.add(status);
    }
  }
  const { items, unreadable } = seen;
  return { items, complete: whole && unreadable === 0, unreadable, completeStatuses };
}

class Seen {
  readonly items = new Map<string, ListItem>();
  unreadable = 0;

  /** Whether no page before showed any of these. */
  add({ items, unreadable }: Page): boolean {
    const isNew = items.every(({ id }) => !this.items.has(id));
    for (const item of items) this.items.set(item.id, item);
    this.unreadable += unreadable;
    return isNew;
  }
}

/** Pages on to the end, as long as each page shows instances that none before it did; else says why not. */
async function followCursor(
  api: Pager,
  { parameter, limit }: { parameter: string; limit: number },
  first: Page,
  seen: Seen,
  signal: AbortSignal,
): Promise<string | undefined> {
  let last = first.items.at(-1);
  if (!last) return "no instance of a page could be read";
  for (let page = 2; page <= mostPages; page++) {
    const next: Page | RequestError = await api
      .listPage({ limit, cursor: { parameter, value: last.id } }, signal)
      .catch(refusedOnly);
    if (next instanceof RequestError) return next.message;
    if (!seen.add(next)) return "a page repeated instances already seen";
    last = next.items.at(-1);
    // More was promised: a parameter that is taken for something else can end a list early (G3).
    if (!last) return "a page that should have more was empty";
    if (!next.hasMore) return undefined;
  }
  return `${mostPages} pages had no end`;
}

/** The parameter itself is not taken; 401 and 403 are about the token. */
function refusedOnly(error: unknown): RequestError {
  if (error instanceof RequestError && error.kind === "answered" && !error.transient) {
    if (error.status !== 401 && error.status !== 403) return error;
  }
  throw error;
}
