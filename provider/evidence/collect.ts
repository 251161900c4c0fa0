/**
 * Fetches one listing: without a filter, in pages if the service has a cursor. If that does not list everything, one
 * request for each status finds more instances, but then the listing never proves that an instance is absent (guarantee
 * G3).
 */
import type { ComputeApi, PageQuery } from "../api/client";
import type { ListItem, Page } from "../api/contract";
import { pageLimit, type InstanceStatus } from "../api/serviceConstants";
import { RequestError } from "../api/errors";
import type { CursorProblem, FetchedListing } from "./listing";

/**
 * The order in which a status mostly changes. An instance that moves on between two requests is then listed twice, not
 * missed.
 */
const statusOrder: readonly InstanceStatus[] = ["PROVISIONING", "ACTIVE", "OFFLINE"];

/** In case the service always promises another page. */
const maxPages = 500;

/**
 * Fetches one listing (section "GET /v2/instances" of the service's API document).
 *
 * @throws RequestError if a request fails (a refused cursor is no failure). The reason of `signal` if it is aborted.
 */
export async function collect(
  api: ComputeApi,
  cursorParameter: string | undefined,
  signal: AbortSignal,
): Promise<FetchedListing> {
  const listPage = (query?: Partial<PageQuery>) =>
    api.listPage({ limit: pageLimit.max, ...query }, signal);
  const items = new Map<string, ListItem>();
  /** Adds a page to the listing. Returns how many of the page's instances an earlier page already had. */
  function addPage(page: Page): number {
    const repeated = page.items.filter(({ id }) => items.has(id));
    for (const item of page.items) items.set(item.id, item);
    return repeated.length;
  }

  let page = await listPage();
  addPage(page);
  let { unreadable, unreadableWhy } = page;

  /** Fetches pages to the end, as long as each has only new instances. Resolves to the problem if there is one. */
  async function followCursor(parameter: string): Promise<CursorProblem | undefined> {
    const lasting = (why: string) => ({ why, isLasting: true });
    const passing = (why: string) => ({ why, isLasting: false });
    for (let pageCount = 1; page.hasMore; pageCount++) {
      const last = page.items.at(-1);
      if (!last) return passing("no instance of the first page could be read");
      if (pageCount === maxPages) return lasting(`the list had not ended after ${maxPages} pages`);
      try {
        page = await listPage({ cursor: { parameter, value: last.id } });
      } catch (error) {
        // For example, the last instance of the page before no longer exists.
        if (isCursorRefused(error)) return passing(error.message);
        throw error;
      }
      unreadable += page.unreadable;
      unreadableWhy ??= page.unreadableWhy;
      const repeatedCount = addPage(page);
      if (repeatedCount > 0) {
        const why = "a page repeated instances of an earlier page";
        // Any page with a new instance shows that the service knows the parameter. Then an instance has moved in the list (as in
        // one by the last change), and another one may have moved past the pages. The next listing may show everything.
        const isIgnored = pageCount === 1 && repeatedCount === page.items.length;
        return isIgnored ? lasting(why) : passing(why);
      }
      // A wrong parameter can make a page empty, which is no proof of the list's end (G3).
      if (!page.items.length) {
        return passing("a page had no readable instance, although more were promised");
      }
    }
    return undefined;
  }
  const cursorProblem =
    cursorParameter === undefined ? undefined : await followCursor(cursorParameter);
  const isComplete = !page.hasMore && !cursorProblem;

  const completeStatuses = new Set<string>();
  for (const status of isComplete ? [] : statusOrder) {
    const ofStatus = await listPage({ status });
    // Unreadable items are counted only above, since the page of a status may repeat them.
    addPage(ofStatus);
    if (!ofStatus.hasMore && ofStatus.unreadable === 0) completeStatuses.add(status);
  }
  const complete = isComplete && unreadable === 0;
  return { items, complete, unreadable, unreadableWhy, completeStatuses, cursorProblem };
}

/** A 401 or 403 refuses the token instead, and a transient error refuses nothing. */
function isCursorRefused(error: unknown): error is RequestError {
  const isAnswered = error instanceof RequestError && error.kind === "answered";
  return isAnswered && !error.transient && error.status !== 401 && error.status !== 403;
}
