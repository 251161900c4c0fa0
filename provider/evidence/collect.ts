/**
 * Fetches one listing: without a filter, in pages if the service has a cursor. If that does not list everything, one
 * request for each status finds more instances, but then the listing never proves that an instance is absent (guarantee
 * G3).
 */
import { isDeepStrictEqual } from "node:util";
import type { ComputeApi, PageQuery } from "../api/client";
import type { ListItem, Page } from "../api/contract";
import { pageLimit, type InstanceStatus } from "../api/serviceConstants";
import { RequestError } from "../api/requestError";
import type { CursorProblem, FetchedListing } from "./listing";

/**
 * The order in which a status mostly changes. An instance that moves on between two requests is then listed twice, not
 * missed.
 */
const statusOrder: readonly InstanceStatus[] = ["PROVISIONING", "ACTIVE", "OFFLINE"];

/** In case the service always promises another page. */
const maxPages = 500;

/** The cursor that is tried if `compute:cursorParameter` is not set: the service's document speaks the dialect that has it. */
export const usualCursor = "starting_after";
/** The `compute:cursorParameter` of a service without a cursor. */
export const noCursor = "none";

/**
 * Whether the service pages by a parameter that nobody has named: the id in the middle of the first page has to give its second half
 * again, in order. What came or went between the two requests does not count. Any failure says no.
 *
 * @throws the reason of `signal` if it is aborted
 */
export async function pagesBy(
  api: ComputeApi,
  parameter: string,
  first: Page,
  signal: AbortSignal,
): Promise<boolean> {
  const ids = first.items.map(({ id }) => id);
  const middle = Math.ceil(ids.length / 2) - 1;
  const value = ids[middle];
  if (value === undefined) return false;
  const query = { limit: pageLimit.max, cursor: { parameter, value }, isProbe: true } as const;
  const page = await api.listPage(query, signal).catch((error: unknown) => {
    if (error instanceof RequestError) return undefined;
    throw error;
  });
  const again = (page?.items ?? []).map(({ id }) => id).filter((id) => ids.includes(id));
  const half = ids.slice(middle + 1).filter((id) => again.includes(id));
  return half.length >= 2 && isDeepStrictEqual(again, half);
}

/**
 * Fetches one listing (section "GET /v2/instances" of the service's API document).
 *
 * @param cursorAfter returns the parameter by which to page on after the first page, if there is one
 * @throws RequestError if a request fails (a refused cursor is no failure). The reason of `signal` if it is aborted.
 */
export function collect(
  api: ComputeApi,
  cursorAfter: (first: Page) => Promise<string | undefined>,
  signal: AbortSignal,
): Promise<FetchedListing> {
  return new Collection(api, signal).collect(cursorAfter);
}

/** What the pages of one listing have shown so far. */
class Collection {
  readonly #api: ComputeApi;
  readonly #signal: AbortSignal;
  readonly #items = new Map<string, ListItem>();
  #unreadable = 0;

  constructor(api: ComputeApi, signal: AbortSignal) {
    this.#api = api;
    this.#signal = signal;
  }

  async collect(
    cursorAfter: (first: Page) => Promise<string | undefined>,
  ): Promise<FetchedListing> {
    const first = await this.#listPage();
    this.#addPage(first);
    const parameter = first.hasMore ? await cursorAfter(first) : undefined;
    const { hasMore, cursorProblem } = await this.#followCursor(parameter, first);
    const isComplete = !hasMore && !cursorProblem;
    const completeStatuses = isComplete ? new Set<string>() : await this.#listByStatus();
    return {
      items: this.#items,
      complete: isComplete && this.#unreadable === 0,
      unreadable: this.#unreadable,
      completeStatuses,
      cursorProblem,
    };
  }

  async #listPage(query?: Partial<PageQuery>): Promise<Page> {
    return await this.#api.listPage({ limit: pageLimit.max, ...query }, this.#signal);
  }

  /** Adds the items of a page. Returns how many of them an earlier page already had. */
  #addItems({ items }: Page): number {
    const repeated = items.filter(({ id }) => this.#items.has(id));
    for (const item of items) this.#items.set(item.id, item);
    return repeated.length;
  }

  /** Adds the items of a page of the whole list, and counts those that can't be read. Returns the same as `#addItems`. */
  #addPage(page: Page): number {
    this.#unreadable += page.unreadable;
    return this.#addItems(page);
  }

  /**
   * Fetches pages to the end, as long as each has only new instances. Resolves to the problem if there is one, and to whether
   * the list goes on.
   */
  async #followCursor(
    parameter: string | undefined,
    first: Page,
  ): Promise<{ hasMore: boolean; cursorProblem?: CursorProblem }> {
    let page = first;
    if (parameter === undefined) return { hasMore: page.hasMore };
    for (let pageCount = 1; page.hasMore; pageCount++) {
      const last = page.items.at(-1);
      if (!last) return passing("no instance of the first page could be read");
      if (pageCount === maxPages) return lasting(`the list had not ended after ${maxPages} pages`);
      try {
        page = await this.#listPage({ cursor: { parameter, value: last.id } });
      } catch (error) {
        // For example, the last instance of the page before no longer exists.
        if (isCursorRefused(error)) return passing(error.message);
        throw error;
      }
      const repeatedCount = this.#addPage(page);
      if (repeatedCount > 0) {
        const why = "a page repeated instances of an earlier page";
        // Any page with a new instance shows that the service knows the parameter. Then an instance has moved in the list (if it
        // is sorted by the last change), and another one may have moved past the pages. The next listing may show everything.
        const isIgnored = pageCount === 1 && repeatedCount === page.items.length;
        return isIgnored ? lasting(why) : passing(why);
      }
      // A wrong parameter can make a page empty, which is no proof of the list's end (G3).
      if (!page.items.length) {
        return passing("a page had no readable instance, although more were promised");
      }
    }
    return { hasMore: false };
  }

  /** Adds one page of each status. Resolves to the statuses whose page shows everything. */
  async #listByStatus(): Promise<Set<string>> {
    const completeStatuses = new Set<string>();
    for (const status of statusOrder) {
      const page = await this.#listPage({ status });
      // Unreadable items are counted only in the whole list, since the page of a status may repeat them.
      this.#addItems(page);
      if (!page.hasMore && page.unreadable === 0) completeStatuses.add(status);
    }
    return completeStatuses;
  }
}

const lasting = (why: string) => ({ hasMore: true, cursorProblem: { why, isLasting: true } });
const passing = (why: string) => ({ hasMore: true, cursorProblem: { why, isLasting: false } });

/** The token may be refused instead, and a transient error refuses nothing. */
function isCursorRefused(error: unknown): error is RequestError {
  return error instanceof RequestError && error.isFinalNo && error.about !== "scope";
}
