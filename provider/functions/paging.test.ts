/** Tests of the pages of a list. */
import { expect, test } from "@jest/globals";
import { pageOf, type PageRequest } from "./paging";

const first: PageRequest = { limit: 0, pageSize: 0, continuationToken: "", subject: ["all"] };
const items = ["e", "c", "a", "d", "b"].map((id) => ({ id }));

/** The ids of all pages. `next` makes the request of a later page. */
function pagesOf(request: Partial<PageRequest>, next = (given: PageRequest) => given): string[] {
  const pages: string[] = [];
  let asked: PageRequest = { ...first, ...request };
  for (;;) {
    const page = pageOf(items, asked);
    pages.push(page.items.map(({ id }) => id).join(""));
    if (page.continuationToken === undefined) return pages;
    asked = next({ ...asked, continuationToken: page.continuationToken });
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

test("the limit may also be given as what is left of it, as the engine does", () => {
  const reduced = (given: PageRequest) => ({ ...given, limit: given.limit - given.pageSize });
  expect(pagesOf({ limit: 5, pageSize: 2 }, reduced)).toEqual(["ab", "cd", "e"]);
});

test("nothing is repeated or left out if instances come and go between two pages", () => {
  const { continuationToken = "" } = pageOf(items, { ...first, pageSize: 2 });
  const now = ["aa", "e", "d", "a", "c"].map((id) => ({ id }));
  const next = pageOf(now, { ...first, continuationToken });
  expect(next.items.map(({ id }) => id)).toEqual(["c", "d", "e"]);
  expect(pageOf([], { ...first, pageSize: 2 })).toEqual({
    items: [],
    continuationToken: undefined,
  });
});
