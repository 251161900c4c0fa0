/**
 * Splits a list into pages, for the List call (functions.ts). The instances are in the order of their ids, and a
 * continuation token names the last id of a page. So the provider need not remember the list: the next page can come from
 * another process and another listing. No instance that exists all the time is repeated or omitted.
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
  /** The token that came with the previous page. Empty for the first page. */
  continuationToken: string;
  /** What is listed, such as the service and the filter. A token that was given for another list is refused. */
  subject: readonly string[];
}

/** One page, and the token of the next one. The token is undefined if this is the last page. */
interface ListPage {
  items: ListItem[];
  continuationToken: string | undefined;
}

/** The content of a continuation token. */
const tokenSchema = z.object({
  /** The fingerprint of the list's `subject`. */
  list: z.string(),
  /** The last id of the page. */
  after: z.string(),
  /** How many instances the later pages may have together. Undefined without a limit. */
  left: z.int().positive().optional(),
});

/**
 * Returns the page that the request asks for.
 *
 * @throws OperationFailed if the continuation token was not given for this list
 */
export function pageOf(items: Iterable<ListItem>, request: PageRequest): ListPage {
  const list = fingerprint(JSON.stringify(request.subject), 12);
  const token = readToken(request.continuationToken, list);
  // A caller may repeat the limit of its first request, or reduce it by the earlier pages, as `pulumi do` does.
  const limit = Math.min(limitOf(request.limit), token?.left ?? Infinity);
  const remaining = [...items]
    .filter(({ id }) => token === undefined || id > token.after)
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  const page = remaining.slice(0, Math.min(limit, limitOf(request.pageSize)));
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

/** Returns a limit as a number. A limit below 1 means none. */
function limitOf(count: number): number {
  return count < 1 ? Infinity : count;
}

function writeToken(content: z.infer<typeof tokenSchema>): string {
  return Buffer.from(JSON.stringify(content)).toString("base64url");
}

/**
 * Returns the content of a token. Returns undefined for the empty string.
 *
 * @throws OperationFailed if the token was not given for this list
 */
function readToken(token: string, list: string): z.infer<typeof tokenSchema> | undefined {
  if (token === "") return undefined;
  const { data } = tokenSchema.safeParse(parseJson(Buffer.from(token, "base64url").toString()));
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
