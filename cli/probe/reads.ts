/** What is found out by reading alone, and so with a live token, too. */
import type { ListItem } from "../../provider/api/contract";
import { usualCursor } from "../../provider/evidence/collect";
import { accountId } from "../../provider/session/connection";
import { OperationFailed } from "../../provider/errors";
import type { AccountFact, CursorFact, CursorTry, ListingFact } from "./facts";
import { answerOf, type Inquiry } from "./steps";

/** Asks for the account. */
export async function askAccount(asking: Inquiry): Promise<AccountFact> {
  const answer = await answerOf(asking.account());
  if (answer.kind === "refused") return answer;
  const id = accountId(answer.value);
  return id === undefined ? { kind: "noId" } : { kind: "id", id };
}

/** A parameter that no service has. */
const unknownParameter = "probe_unknown";

/** Lists without a parameter, and with an unknown one. */
export async function askListing(asking: Inquiry): Promise<ListingFact> {
  const { items, unreadable, hasMore } = await asking.page({});
  const answer = await answerOf(asking.page({ limit: "1", [unknownParameter]: "1" }));
  const refusal = answer.kind === "refused" ? answer.refusal : undefined;
  return { listed: items.length + unreadable, hasMore, refusal };
}

/** The names that are tried, with what such a parameter gets: the last id of a page, or a number. */
const candidates = [
  { parameter: usualCursor, takes: "id" },
  { parameter: "after", takes: "id" },
  { parameter: "cursor", takes: "id" },
  { parameter: "page_token", takes: "id" },
  { parameter: "page", takes: "number" },
  { parameter: "offset", takes: "number" },
] as const;
type Candidate = Pick<CursorTry, "parameter" | "takes">;

/** The most pages that a parameter is followed for. */
const maxPages = 6;
/** All instances of one listing come in so many pages. */
const wantedPages = 4;

/** Finds the parameters that lead from page to page. It takes two instances. `configured` is tried, too. */
export async function askCursor(
  asking: Inquiry,
  configured: string | undefined,
): Promise<CursorFact> {
  const all = await asking.look();
  if (all.items.size < 2)
    throw new OperationFailed([`it takes two instances, and ${all.items.size} are listed`]);
  const limit = Math.ceil(all.items.size / wantedPages);
  const { items, hasMore } = await asking.page({ limit: String(limit) });
  const first = { items, hasMore };
  const isPageCut = items.length === limit && hasMore;
  if (!isPageCut) return { limit, isPageCut, tries: [] };
  const isKnown = candidates.some(({ parameter }) => parameter === configured);
  const own: readonly Candidate[] =
    configured === undefined || isKnown ? [] : [{ parameter: configured, takes: "id" }];
  const tries: CursorTry[] = [];
  for (const candidate of [...own, ...candidates]) {
    const outcome = await follow(asking, candidate, limit, first);
    const isWhole = !outcome.hasMore && [...all.items.keys()].every((id) => outcome.seen.has(id));
    // An end that lacks instances is none.
    const isCut = outcome.result === "pages" && !outcome.hasMore && !isWhole;
    const result = isCut ? "muddled" : outcome.result;
    tries.push({ ...candidate, result, pages: outcome.pages, isWhole });
  }
  return { limit, isPageCut, tries };
}

interface OnePage {
  readonly items: readonly ListItem[];
  readonly hasMore: boolean;
}

/** Follows a parameter from the first page on, as long as each page has only new instances. */
async function follow(
  asking: Inquiry,
  { parameter, takes }: Candidate,
  limit: number,
  first: OnePage,
): Promise<Pick<CursorTry, "result" | "pages"> & { seen: ReadonlySet<string>; hasMore: boolean }> {
  const firstIds = first.items.map(({ id }) => id);
  const seen = new Set(firstIds);
  let page = first;
  let pages = 1;
  const end = (result: CursorTry["result"]) => ({ result, pages, seen, hasMore: page.hasMore });
  while (page.hasMore && pages < maxPages) {
    const number = parameter === "page" ? pages + 1 : pages * limit;
    const value = takes === "number" ? String(number) : (page.items.at(-1)?.id ?? "");
    const answer = await answerOf(asking.page({ limit: String(limit), [parameter]: value }));
    if (answer.kind === "refused") return end("refused");
    const ids = answer.value.items.map(({ id }) => id);
    if (pages === 1 && ids.join("\n") === firstIds.join("\n")) return end("ignored");
    if (ids.length === 0 || ids.some((id) => seen.has(id))) return end("muddled");
    for (const id of ids) seen.add(id);
    page = answer.value;
    pages++;
  }
  return end("pages");
}
