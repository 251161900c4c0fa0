/** Reads responses of the service: the body of a success, and of an error what the service said (G9). */
import { STATUS_CODES } from "node:http";
import type * as z from "zod";
import type { Page } from "../client";
import { tolerant } from "../contract";
import { RequestError, type ServiceError } from "../errors";
import type { Accepted } from "../postOutcome";
import type { HttpResponse } from "./transport";

/**
 * GET /v2/account. Its response is "not shown", so JSON, text and an empty body all count.
 * @throws RequestError (`unreadable`) if the body is too long.
 */
export function readAccount(response: HttpResponse): unknown {
  const json = parseJson(response);
  if ("value" in json) return json.value;
  if (response.isTruncated) throw unreadable(response, json.problem);
  return response.request.redact(response.body.toString("utf8")).trim() || undefined;
}

/**
 * GET /v2/instances. Items are read one by one: an odd one never spoils the others.
 * @throws RequestError (`unreadable`) if the body is no list.
 */
export function readPage(response: HttpResponse): Page {
  const { data, has_more } = readAs(tolerant.list, response);
  const items = readEach(tolerant.listItem, data);
  return { items, hasMore: has_more, unreadable: data.length - items.length };
}

/**
 * The 202 of POST /v2/instances. Only the id is needed: with it, everything else can be looked up (G1).
 * @throws RequestError (`unreadable`) if the body has no id.
 */
export function readAccepted(response: HttpResponse): Accepted {
  const { id, name, status, created_at, networks } = readAs(tolerant.accepted, response);
  const readable = readEach(tolerant.network, networks ?? []);
  return { id, name, status, createdAt: created_at, networks: readable };
}

function readEach<T extends z.ZodType>(type: T, values: readonly unknown[]): z.infer<T>[] {
  return values
    .map((value) => type.safeParse(value))
    .flatMap((it) => (it.success ? [it.data] : []));
}

function readAs<T extends z.ZodType>(type: T, response: HttpResponse): z.infer<T> {
  const json = parseJson(response);
  if ("problem" in json) throw unreadable(response, json.problem);
  const read = type.safeParse(json.value);
  if (read.success) return read.data;
  // Names the fields, never their values.
  const fields = read.error.issues.map((issue) => issue.path.join(".") || "the answer as a whole");
  const names = [...new Set(fields)].join(", ");
  throw unreadable(response, `has wrong or missing fields: ${names}`);
}

function unreadable({ status, request }: HttpResponse, problem: string): RequestError {
  const { method, path } = request;
  const cause = `the body of the answer ${problem}`;
  return new RequestError({ kind: "unreadable", method, path, status, cause });
}

/**
 * The error of a response that is no success. A redirect is not followed, so that the token goes nowhere
 * else (G8) and a POST is not sent twice (G2).
 */
export function errorOf(response: HttpResponse, baseUrl: string): RequestError {
  const { status, request } = response;
  const { method, path, redact } = request;
  const failure = { kind: "answered", method, path, status } as const;
  const location = status < 400 ? header(response, "location") : undefined;
  if (location !== undefined) {
    return new RequestError({ ...failure, cause: redact(redirected(location, baseUrl)) });
  }
  const service = readEnvelope(response);
  const excerpt = service ? "" : excerptOf(response);
  const phrase = `the service answered ${STATUS_CODES[status] ?? "an error"}`;
  const cause = service?.message ?? (excerpt ? `${phrase}: ${excerpt}` : phrase);
  return new RequestError({ ...failure, service, cause });
}

/** Names only the origin, since path and query may hold what is not for the screen. */
function redirected(location: string, baseUrl: string): string {
  const url = URL.parse(location, baseUrl);
  const { origin } = new URL(baseUrl);
  const refused = "which is not followed: nothing was sent there";
  if (!url || !["http:", "https:"].includes(url.protocol)) {
    return `redirected to an address that cannot be used, ${refused}`;
  }
  const where = url.origin === origin ? `another path of ${origin}` : url.origin;
  return `redirected to ${where}, ${refused}. If the service is there, set compute:baseUrl to it`;
}

/** The error envelope ("Errors"), with every field fit to be shown; undefined if the body is none. */
export function readEnvelope(response: HttpResponse): ServiceError | undefined {
  const json = parseJson(response);
  const read = "value" in json ? tolerant.error.safeParse(json.value) : undefined;
  if (!read?.success) return undefined;
  const { code, message, doc_url, request_id } = read.data.error;
  const shown = (text: string | undefined, maxLength: number) =>
    (text && oneLine(text, maxLength, response.request.redact)) || undefined;
  return {
    code: shown(code, 100),
    message: shown(message, 1000),
    docUrl: shown(doc_url, 300),
    requestId: shown(request_id, 100),
  };
}

function parseJson(response: HttpResponse): { value: unknown } | { problem: string } {
  if (response.isTruncated) return { problem: "is too long" };
  // Unlike `toString`, this drops a byte order mark.
  const text = new TextDecoder().decode(response.body);
  if (!text.trim()) return { problem: "is empty" };
  try {
    // Without keys that would change the prototype of an object they are copied to.
    const reviver = (key: string, value: unknown) => (key === "__proto__" ? undefined : value);
    return { value: JSON.parse(text, reviver) as unknown };
  } catch (error) {
    // The parser's own message quotes the text, which may hold anything. The reviver's calls are nested.
    if (error instanceof RangeError) return { problem: "is nested too deep" };
  }
  const encoding = header(response, "content-encoding");
  // Never decoded, since a few bytes could become gigabytes.
  if (encoding) {
    const shown = oneLine(encoding, 30, response.request.redact);
    return { problem: `is encoded (${shown}), which was not asked for` };
  }
  return { problem: isHtml(response) ? "is an HTML page, not JSON" : "is not JSON" };
}

/** The part of a text that is read: enough to fill a line after redaction, and quick to go through. */
const maxTextLength = 16_384;

/** Text from outside as one line, redacted before it is cut: half a secret would not be recognised. */
export function oneLine(text: string, maxLength: number, redact: (text: string) => string): string {
  const line = redact(text.slice(0, maxTextLength).replace(/\s+/g, " ")).trim();
  return (line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line).toWellFormed();
}

function beginning({ body }: HttpResponse): string {
  return body.subarray(0, maxTextLength).toString("utf8");
}

function isHtml(response: HttpResponse): boolean {
  const type = header(response, "content-type") ?? "";
  return /html/i.test(type) || /^\s*<(!doctype|html|head|body)/i.test(beginning(response));
}

function excerptOf(response: HttpResponse): string {
  const { redact } = response.request;
  const text = beginning(response);
  if (!isHtml(response)) return oneLine(text, 200, redact);
  const words = text.replace(/<(script|style)\b[^]*?<\/\1\s*>/gi, " ").replace(/<[^>]*>?/g, " ");
  return `an HTML page: ${oneLine(words, 200, redact)}`;
}

/** The first value of a header; `name` is in small letters. */
export function header({ headers }: HttpResponse, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** A service that asks for a longer pause is asked again after this time. */
const longestRetryAfterMs = 5 * 60_000;

/**
 * Milliseconds to wait by the Retry-After header, which holds seconds or an HTTP date (RFC 9110, 10.2.3).
 * Undefined if it gives no time in the future. The document says nothing of the header ("Limits").
 */
export function retryAfterMs(value: string | undefined, now: Date): number | undefined {
  const text = value?.trim() ?? "";
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  return ms > 0 ? Math.min(ms, longestRetryAfterMs) : undefined;
}
