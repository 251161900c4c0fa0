/** Tests how a list is split into pages. */
import { expect, test } from "@jest/globals";
import { pageOf, type PageRequest } from "./paging";

const wholeList: PageRequest = { limit: 0, pageSize: 0, continuationToken: "", subject: ["all"] };
const items = ["e", "c", "a", "d", "b"].map((id) => ({ id }));

/** Returns the ids of each page. `next` makes the request for a later page. */
function pagesOf(first: Partial<PageRequest>, next = (request: PageRequest) => request): string[] {
  const pages: string[] = [];
  let request: PageRequest = { ...wholeList, ...first };
  for (;;) {
    const page = pageOf(items, request);
    pages.push(page.items.map(({ id }) => id).join(""));
    if (page.continuationToken === undefined) return pages;
    request = next({ ...request, continuationToken: page.continuationToken });
  }
}

test.each([
  [{}, ["abcde"]],
  [{ pageSize: 2 }, ["ab", "cd", "e"]],
  [{ pageSize: 5 }, ["abcde"]],
  [{ limit: 3 }, ["abc"]],
  [{ limit: 3, pageSize: 2 }, ["ab", "c"]],
  [{ limit: 4, pageSize: 2 }, ["ab", "cd"]],
  [{ limit: -1, pageSize: -1 }, ["abcde"]],
])("%j: each instance is on one page, and the last page has no token", (request, pages) => {
  expect(pagesOf(request)).toEqual(pages);
});

test("a caller may reduce the limit by the earlier pages, as the engine does", () => {
  const reduced = (request: PageRequest) => ({
    ...request,
    limit: request.limit - request.pageSize,
  });
  expect(pagesOf({ limit: 5, pageSize: 2 }, reduced)).toEqual(["ab", "cd", "e"]);
});

test("nothing is repeated or left out if instances come and go between two pages", () => {
  const { continuationToken = "" } = pageOf(items, { ...wholeList, pageSize: 2 });
  const now = ["aa", "e", "d", "a", "c"].map((id) => ({ id }));
  const next = pageOf(now, { ...wholeList, continuationToken });
  expect(next.items.map(({ id }) => id)).toEqual(["c", "d", "e"]);
  expect(pageOf([], { ...wholeList, pageSize: 2 })).toEqual({
    items: [],
    continuationToken: undefined,
  });
});
