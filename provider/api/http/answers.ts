/** From a 2xx to what the caller asked for, by the tolerant forms of the contract. */
import type * as z from "zod";
import type { Page } from "../client";
import { type ListItem, type WireNetwork, tolerant } from "../contract";
import { RequestError } from "../errors";
import type { Accepted } from "../postOutcome";
import { type HttpResponse, type HttpRequest, header } from "./exchange";
import { parseJson } from "./json";
import { isHtml, oneLine } from "./text";

export type Read<T> = (answer: HttpResponse, call: HttpRequest) => T;

/** "Response: not shown": JSON, text or nothing. */
export const readAccount: Read<unknown> = (answer, call) => {
  if (answer.partial) throw unreadable(answer, call, "is too long");
  const json = parseJson(answer.body);
  if (json.ok) return json.value;
  return call.redact(answer.body.toString("utf8")).trim() || undefined;
};

/** Items are read one by one: an odd one never spoils the others. */
export const readPage: Read<Page> = (answer, call) => {
  const { data, has_more } = readAs(tolerant.list, answer, call);
  const items: ListItem[] = [];
  for (const candidate of data) {
    const item = tolerant.listItem.safeParse(candidate);
    if (item.success) items.push(item.data);
  }
  return { items, hasMore: has_more, unreadable: data.length - items.length };
};

/** Only the id is needed: with it, everything else can be looked up (G1). */
export const readAccepted: Read<Accepted> = (answer, call) => {
  const { id, name, status, created_at, networks } = readAs(tolerant.accepted, answer, call);
  const readable: WireNetwork[] = [];
  for (const candidate of networks ?? []) {
    const network = tolerant.network.safeParse(candidate);
    if (network.success) readable.push(network.data);
  }
  return { id, name, status, createdAt: created_at, networks: readable };
};

/** DELETE: the status says it all. */
export const readNothing: Read<void> = () => undefined;

function readAs<T extends z.ZodType>(type: T, answer: HttpResponse, call: HttpRequest): z.infer<T> {
  if (answer.partial) throw unreadable(answer, call, "is too long");
  const json = parseJson(answer.body);
  if (!json.ok) throw unreadable(answer, call, whyNoJson(answer, call, json.why));
  const read = type.safeParse(json.value);
  if (read.success) return read.data;
  // Names the fields, never their values.
  const fields = read.error.issues.map((issue) => issue.path.join(".") || "the answer as a whole");
  throw unreadable(answer, call, `has wrong or missing fields: ${[...new Set(fields)].join(", ")}`);
}

function whyNoJson(answer: HttpResponse, call: HttpRequest, why: string): string {
  // Never decoded: what is small on the wire could be without end (send.ts asks for no encoding).
  const encoding = header(answer, "content-encoding");
  if (encoding)
    return `is encoded (${oneLine(encoding, 30, call.redact)}), which was not asked for`;
  return isHtml(answer) ? "is an HTML page, not JSON" : why;
}

function unreadable(answer: HttpResponse, call: HttpRequest, why: string): RequestError {
  return new RequestError({
    kind: "unreadable",
    method: call.method,
    path: call.path,
    status: answer.status,
    cause: `the body of the answer ${why}`,
  });
}
