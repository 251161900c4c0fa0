/**
 * Takes one listing, as whole as the service allows (DESIGN section 3): unfiltered first; on with
 * the cursor, where one is configured and proves to page; otherwise one listing per status, which
 * finds instances but never proves absence (G3).
 */
import { RequestError } from "../api/errors";
import type { ComputeApi } from "../api/client";
import type { ListItem } from "../api/contract";
import { pageLimit, type InstanceStatus } from "../api/documented";
import type { Snapshot } from "./snapshot";

type Findings = Pick<Snapshot, "items" | "complete" | "unreadable" | "completeStatuses">;

/** An instance that moves on between two requests is seen twice rather than not at all. */
const statusOrder: readonly InstanceStatus[] = ["PROVISIONING", "ACTIVE", "OFFLINE"];

/** Far beyond any tenant the service's rate limit would let anyone list. */
const mostPages = 500;

interface CollectOptions {
  cursorParameter: string | undefined;
  onCursorIgnored: (why: string) => void;
  /** Smaller pages than the service allows show whether it pages, without hundreds of instances. */
  pageSize?: number;
}

export async function collect(
  api: ComputeApi,
  options: CollectOptions,
  signal: AbortSignal,
): Promise<Findings> {
  const items = new Map<string, ListItem>();
  const { pageSize: limit = pageLimit.max } = options;
  const first = await api.listPage({ limit }, signal);
  for (const item of first.items) items.set(item.id, item);
  let unreadable = first.unreadable;
  let whole = !first.hasMore;

  if (!whole && options.cursorParameter) {
    const rest = await followCursor(
      api,
      { parameter: options.cursorParameter, limit },
      first.items,
      signal,
    );
    for (const item of rest.items) items.set(item.id, item);
    unreadable += rest.unreadable;
    whole = rest.whole;
    if (rest.ignored) options.onCursorIgnored(rest.ignored);
  }

  const completeStatuses = new Set<InstanceStatus>();
  if (!whole) {
    for (const status of statusOrder) {
      const page = await api.listPage({ limit: pageLimit.max, status }, signal);
      for (const item of page.items) items.set(item.id, item);
      if (!page.hasMore && page.unreadable === 0) completeStatuses.add(status);
    }
  }
  return { items, complete: whole && unreadable === 0, unreadable, completeStatuses };
}

/** Pages on, as long as each page shows an instance that none before it did. */
async function followCursor(
  api: ComputeApi,
  { parameter, limit }: { parameter: string; limit: number },
  firstPage: readonly ListItem[],
  signal: AbortSignal,
): Promise<{ items: ListItem[]; unreadable: number; whole: boolean; ignored?: string }> {
  const seen = new Set(firstPage.map((item) => item.id));
  const items: ListItem[] = [];
  let unreadable = 0;
  let last = firstPage.at(-1);
  for (let page = 2; last && page <= mostPages; page++) {
    const cursor = { parameter, value: last.id };
    try {
      const next = await api.listPage({ limit, cursor }, signal);
      const fresh = next.items.filter((item) => !seen.has(item.id));
      for (const item of fresh) seen.add(item.id);
      items.push(...fresh);
      unreadable += next.unreadable;
      if (fresh.length < next.items.length) {
        return {
          items,
          unreadable,
          whole: false,
          ignored: "a page repeated instances already seen",
        };
      }
      // More was promised: a parameter that is taken for something else can end a list early (G3).
      if (next.items.length === 0) {
        return {
          items,
          unreadable,
          whole: false,
          ignored: "a page that should have more was empty",
        };
      }
      if (!next.hasMore) return { items, unreadable, whole: true };
      last = next.items.at(-1);
    } catch (error) {
      if (error instanceof RequestError && refused(error)) {
        return { items, unreadable, whole: false, ignored: error.message };
      }
      throw error;
    }
  }
  const ignored = last ? `${mostPages} pages had no end` : "no instance of a page could be read";
  return { items, unreadable, whole: false, ignored };
}

/** The parameter itself is not taken; 401 and 403 are about the token. */
function refused({ kind, status, transient }: RequestError): boolean {
  return kind === "answered" && !transient && status !== 401 && status !== 403;
}
