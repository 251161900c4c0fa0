/**
 * Takes one listing, as complete as the service allows. The first request has no filter. Where the service
 * has more, the cursor is followed if one is configured. If that does not list everything, one request for
 * each status finds more instances, but never proves absence (G3).
 */
import type { ComputeApi, Page } from "../api/client";
import type { ListItem } from "../api/contract";
import { pageLimit, type InstanceStatus } from "../api/serviceConstants";
import { RequestError } from "../api/errors";
import type { ListingContent } from "./listing";

/** In the order of an instance's life: one that moves on between two requests is listed twice, not missed. */
const statusOrder: readonly InstanceStatus[] = ["PROVISIONING", "ACTIVE", "OFFLINE"];

/** Ends the paging of a service that always has more. */
const maxPages = 500;

interface CollectOptions {
  /** `compute:cursorParameter`. */
  cursorParameter: string | undefined;
  /** Told why the cursor did not list everything. */
  onCursorIgnored: (why: string) => void;
  /** A smaller page than the service allows shows with few instances whether the cursor pages. */
  pageSize?: number;
}

/**
 * Takes one listing ("GET /v2/instances").
 *
 * @throws RequestError where a request fails, unless it is the cursor that the service refuses
 */
export async function collect(
  api: Pick<ComputeApi, "listPage">,
  { cursorParameter, onCursorIgnored, pageSize = pageLimit.max }: CollectOptions,
  signal: AbortSignal,
): Promise<ListingContent> {
  const items = new Map<string, ListItem>();
  let unreadable = 0;
  /** False if an earlier page showed one of these instances. */
  const add = (page: Page): boolean => {
    const isNew = page.items.every(({ id }) => !items.has(id));
    for (const item of page.items) items.set(item.id, item);
    unreadable += page.unreadable;
    return isNew;
  };

  const first = await api.listPage({ limit: pageSize }, signal);
  add(first);
  let isCompleteFor = !first.hasMore;
  if (!isCompleteFor && cursorParameter) {
    const listAfter = (value: string) =>
      api.listPage({ limit: pageSize, cursor: { parameter: cursorParameter, value } }, signal);
    const problem = await followCursor(first, listAfter, add);
    isCompleteFor = problem === undefined;
    if (problem !== undefined) onCursorIgnored(problem);
  }

  const completeStatuses = new Set<InstanceStatus>();
  if (!isCompleteFor) {
    for (const status of statusOrder) {
      const page = await api.listPage({ limit: pageLimit.max, status }, signal);
      // The listing is not complete anyway: its unreadable items are counted once, above.
      for (const item of page.items) items.set(item.id, item);
      if (!page.hasMore && page.unreadable === 0) completeStatuses.add(status);
    }
  }
  return { items, complete: isCompleteFor && unreadable === 0, unreadable, completeStatuses };
}

/** Lists to the end, while each page shows only new instances. Resolves to what went wrong otherwise. */
async function followCursor(
  first: Page,
  listAfter: (lastId: string) => Promise<Page>,
  add: (page: Page) => boolean,
): Promise<string | undefined> {
  let last = first.items.at(-1);
  if (!last) return "no instance of a page could be read";
  for (let count = 2; count <= maxPages; count++) {
    let page: Page;
    try {
      page = await listAfter(last.id);
    } catch (error) {
      if (isCursorRefused(error)) return error.message;
      throw error;
    }
    if (!add(page)) return "a page repeated instances already seen";
    last = page.items.at(-1);
    // A parameter that the service takes for something else can end a list early (G3).
    if (!last) return "a page that should have more was empty";
    if (!page.hasMore) return undefined;
  }
  return `${maxPages} pages had no end`;
}

/** 401 and 403 are about the token, and a transient error says nothing about the cursor. */
function isCursorRefused(error: unknown): error is RequestError {
  const isAnswered = error instanceof RequestError && error.kind === "answered";
  return isAnswered && !error.transient && error.status !== 401 && error.status !== 403;
}
