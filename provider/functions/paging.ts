/**
 * Splits a list into pages. A continuation token names the last id of a page, and pages are in the order of the ids. So the
 * next page can come from another process and another listing, and repeats or omits no instance that exists all the time.
 */
import * as z from "zod";
import { OperationFailed } from "../errors";
import { fingerprint } from "../fingerprint";
import type { ListItem } from "../api/contract";
import type { RequestedPage } from "../requests";

/** Which page of which list is asked for. */
export interface PageRequest extends RequestedPage {
  /** What is listed, such as the service and the filter. A token that was given for another list is refused. */
  subject: readonly string[];
}

/** The content of a continuation token. */
const tokenSchema = z.object({
  /** The fingerprint of the `subject`. */
  list: z.string(),
  /** The last id of the page. */
  after: z.string(),
  /** How many instances the later pages may have together. Null without a limit, which is JSON's form of infinity. */
  left: z.int().positive().nullish(),
});

/**
 * Returns the page that the request asks for, and the token of the next page, if there is one.
 *
 * @throws OperationFailed if the continuation token was not given for this list
 */
export function pageOf(
  items: Iterable<ListItem>,
  request: PageRequest,
): { items: ListItem[]; continuationToken: string | undefined } {
  const list = fingerprint(JSON.stringify(request.subject), 12);
  const { after, left } = readToken(request.continuationToken, list);
  // A caller may repeat the limit of its first request, or reduce it by the earlier pages, as `pulumi do` does.
  const limit = Math.min(limitOf(request.limit), left ?? Infinity);
  const remaining = [...items]
    .filter(({ id }) => id > after)
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  const page = remaining.slice(0, Math.min(limit, limitOf(request.pageSize)));
  const last = page.at(-1);
  const isLast = !last || page.length === limit || page.length === remaining.length;
  if (isLast) return { items: page, continuationToken: undefined };
  const next = JSON.stringify({ list, after: last.id, left: limit - page.length });
  return { items: page, continuationToken: Buffer.from(next).toString("base64url") };
}

function limitOf(count: number): number {
  return count < 1 ? Infinity : count;
}

/** @throws OperationFailed if the token was not given for this list */
function readToken(token: string, list: string): z.infer<typeof tokenSchema> {
  if (token === "") return { list, after: "", left: null };
  let content;
  try {
    content = tokenSchema.parse(JSON.parse(Buffer.from(token, "base64url").toString()));
  } catch {
    throw new OperationFailed(
      "the continuation token is not one that this provider gave. List again without a token",
    );
  }
  if (content.list === list) return content;
  throw new OperationFailed(
    "the continuation token belongs to another list: it was given for another base URL, token kind, account or status. List again without a token",
  );
}
