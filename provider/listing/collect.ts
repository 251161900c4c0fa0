/**
 * Fetches one listing: without a filter, in pages if the service has a cursor. If that does not list everything, one request
 * for each status finds more instances, but then the listing never proves that an instance is absent (G3).
 */
import type { ComputeApi, Page } from "../api/client";
import type { ListItem } from "../api/contract";
import { pageLimit, type InstanceStatus } from "../api/serviceConstants";
import { RequestError } from "../api/errors";
import type { ListingContent } from "./listing";

/** The order of an instance's life. One whose status changes between two requests is then listed twice, not missed. */
const statusOrder: readonly InstanceStatus[] = ["PROVISIONING", "ACTIVE", "OFFLINE"];

/** In case the service always promises another page. */
const maxPages = 500;

interface CollectOptions {
  /** `compute:cursorParameter` */
  cursorParameter: string | undefined;
  /** Called with the reason if the cursor did not list everything. */
  onCursorFailed: (reason: string) => void;
}

/**
 * Fetches one listing (section "GET /v2/instances" of the service's API document).
 *
 * @throws RequestError if a request fails, unless the service refuses the cursor, and the reason of `signal`
 */
export async function collect(
  api: Pick<ComputeApi, "listPage">,
  { cursorParameter, onCursorFailed }: CollectOptions,
  signal: AbortSignal,
): Promise<ListingContent> {
  const items = new Map<string, ListItem>();
  let unreadable = 0;
  /** Adds a page to the listing. Returns false if an earlier page already had one of the page's instances. */
  const addPage = (page: Page): boolean => {
    const isNew = page.items.every(({ id }) => !items.has(id));
    for (const item of page.items) items.set(item.id, item);
    unreadable += page.unreadable;
    return isNew;
  };

  const first = await api.listPage({ limit: pageLimit.max }, signal);
  addPage(first);
  let isComplete = !first.hasMore;
  if (!isComplete && cursorParameter) {
    const listAfter = (value: string) =>
      api.listPage({ limit: pageLimit.max, cursor: { parameter: cursorParameter, value } }, signal);
    const problem = await followCursor(first, listAfter, addPage);
    isComplete = problem === undefined;
    if (problem !== undefined) onCursorFailed(problem);
  }

  const completeStatuses = new Set<InstanceStatus>();
  if (!isComplete) {
    for (const status of statusOrder) {
      const page = await api.listPage({ limit: pageLimit.max, status }, signal);
      // Unreadable items are counted only above, since the page of a status may repeat them.
      for (const item of page.items) items.set(item.id, item);
      if (!page.hasMore && page.unreadable === 0) completeStatuses.add(status);
    }
  }
  return { items, complete: isComplete && unreadable === 0, unreadable, completeStatuses };
}

/** Fetches pages to the end, as long as each has only new instances. Resolves to the problem if there is one. */
async function followCursor(
  first: Page,
  listAfter: (lastId: string) => Promise<Page>,
  addPage: (page: Page) => boolean,
): Promise<string | undefined> {
  let lastItem = first.items.at(-1);
  if (!lastItem) return "no instance of the first page could be read";
  for (let pageNumber = 2; pageNumber <= maxPages; pageNumber++) {
    let page: Page;
    try {
      page = await listAfter(lastItem.id);
    } catch (error) {
      if (isCursorRefused(error)) return error.message;
      throw error;
    }
    if (!addPage(page)) return "a page repeated instances of an earlier page";
    lastItem = page.items.at(-1);
    // A parameter that means something else to the service can end a list early (G3).
    if (!lastItem) return "a page had no readable instance, although more were promised";
    if (!page.hasMore) return undefined;
  }
  return `the list had not ended after ${maxPages} pages`;
}

/** A 401 or 403 refuses the token instead, and a transient error refuses nothing. */
function isCursorRefused(error: unknown): error is RequestError {
  const isAnswered = error instanceof RequestError && error.kind === "answered";
  return isAnswered && !error.transient && error.status !== 401 && error.status !== 403;
}
