/**
 * The pages of a list, for the List call (functions.ts). The instances are in the order of their ids, and a
 * continuation token names the last id of a page. So a token needs no memory of the provider: the next page can come
 * from another process and another listing. It repeats and omits nothing, even if instances have come or gone.
 */
import * as z from "zod";
import { OperationFailed } from "../errors";
import { fingerprint } from "../fingerprint";
import type { ListItem } from "../api/contract";

/** Which page of a list is asked for. A number below 1 means no limit. */
export interface PageRequest {
  /** The maximum number of instances of the page and of all later ones. */
  limit: number;
  /** The maximum number of instances of the page. */
  pageSize: number;
  /** The token that came with the page before. Empty for the first page. */
  continuationToken: string;
  /** What the pages are of, such as the service and the filter. A token of another list is refused. */
  subject: readonly string[];
}

/** One page, and the token of the next one. The token is undefined if this is the last page. */
interface ListPage {
  items: ListItem[];
  continuationToken: string | undefined;
}

const position = z.object({
  list: z.string(),
  /** The last id of the page. */
  after: z.string(),
  /** How many instances the later pages may have. Undefined without a limit. */
  left: z.int().positive().optional(),
});

/**
 * Returns the page of these instances that is asked for.
 *
 * @throws OperationFailed if the continuation token is not one of this list
 */
export function pageOf(items: Iterable<ListItem>, request: PageRequest): ListPage {
  const list = fingerprint(JSON.stringify(request.subject), 12);
  const from = readToken(request.continuationToken, list);
  // A caller may repeat the limit of its first request, or give what is left of it, as `pulumi do` does.
  const limit = Math.min(atMost(request.limit), from?.left ?? Infinity);
  const remaining = [...items]
    .filter(({ id }) => from === undefined || id > from.after)
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  const page = remaining.slice(0, Math.min(limit, atMost(request.pageSize)));
  const last = page.at(-1);
  const left = limit - page.length;
  const isLast = !last || left === 0 || page.length === remaining.length;
  return {
    items: page,
    continuationToken: isLast
      ? undefined
      : writeToken({ list, after: last.id, left: Number.isFinite(left) ? left : undefined }),
  };
}

function atMost(count: number): number {
  return count < 1 ? Infinity : count;
}

function writeToken(value: z.infer<typeof position>): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** @throws OperationFailed if the token is not one of this list */
function readToken(token: string, list: string): z.infer<typeof position> | undefined {
  if (token === "") return undefined;
  const { data } = position.safeParse(parseJson(Buffer.from(token, "base64url").toString()));
  if (!data) {
    throw new OperationFailed(
      "the continuation token is not one that this provider gave. List again without a token",
    );
  }
  if (data.list !== list) {
    throw new OperationFailed(
      "the continuation token belongs to another list: it was given for another base URL, token kind, account or status. List again without a token",
    );
  }
  return data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
