/** Reads responses: a success becomes a value, and an error response an error with the service's own message (G9). */
import { STATUS_CODES } from "node:http";
import type * as z from "zod";
import { tolerant } from "../contract";
import { redactionMark } from "../../redaction";
import { encodedAnswer, htmlPage, RequestError, type ServiceError } from "../requestError";
import type { ClientOptions } from "../options";
import type { HttpResponse } from "./transport";

/**
 * Reads the response of GET /v2/account. The document does not show it, so it may be JSON, text or empty (undefined).
 * @throws RequestError (`unreadable`) if the body is encoded
 */
export function readAccount(response: HttpResponse): unknown {
  const json = parseJson(response);
  if ("value" in json) return json.value;
  if (encodingOf(response) !== undefined) throw unreadableError(response, json.problem);
  return response.request.redact(response.body.toString("utf8")).trim() || undefined;
}

/**
 * Returns the reader of bodies with this schema.
 * @throws RequestError (`unreadable`) if the body is not JSON, or does not fit the schema
 */
export const readAs =
  <T extends z.ZodType>(schema: T) =>
  (response: HttpResponse): z.infer<T> => {
    const json = parseJson(response);
    if ("problem" in json) throw unreadableError(response, json.problem);
    const parsed = schema.safeParse(json.value);
    if (parsed.success) return parsed.data;
    // No value is shown, because it may be a secret.
    const { issues } = parsed.error;
    const fields = new Set(issues.map(({ path }) => path.join(".") || "the answer as a whole"));
    throw unreadableError(response, `has wrong or missing fields: ${[...fields].join(", ")}`);
  };

function unreadableError(response: HttpResponse, problem: string): RequestError {
  const { status, request } = response;
  const { method, path } = request;
  const cause = `the body of the answer ${problem}`;
  const encoded = encodingOf(response) === undefined ? undefined : encodedAnswer;
  const short = isHtml(response) ? htmlPage : encoded;
  return new RequestError({ kind: "unreadable", method, path, status, cause, short });
}

/** The error for a status other than 2xx. A redirect is not followed: no other server gets the token (G8). */
export function errorOf(
  response: HttpResponse,
  { baseUrl, clock }: Pick<ClientOptions, "baseUrl" | "clock">,
): RequestError {
  const { status, request, header } = response;
  const { method, path, redact } = request;
  const pauseMs = retryAfterMs(header("retry-after"), clock.date());
  const known = { method, path, status, retryAfterMs: pauseMs };
  const failure = { kind: "answered", ...known } as const;
  const phrase = `the service answered ${STATUS_CODES[status] ?? "an error"}`;
  const location = status < 400 ? header("location") : undefined;
  if (location !== undefined) {
    return new RequestError({ ...failure, cause: redirectMessage(location, baseUrl, redact) });
  }
  const service = readEnvelope(response);
  const excerpt = service ? "" : excerptOf(response);
  const cause = service?.message ?? (excerpt ? `${phrase}: ${excerpt}` : phrase);
  return new RequestError({ ...failure, service, cause });
}

/** The message names only the origin, since path and query may hold secrets. */
function redirectMessage(
  location: string,
  baseUrl: string,
  redact: (text: string) => string,
): string {
  const { origin } = new URL(baseUrl);
  const given = URL.parse(location, baseUrl)?.origin ?? "no address";
  const target = given === origin ? `another path of ${origin}` : redact(given);
  return `redirected to ${target}, which is not followed: nothing was sent there`;
}

/** Reads the error envelope (section "Error envelope"), redacted and shortened. Undefined if the body is none. */
export function readEnvelope(response: HttpResponse): ServiceError | undefined {
  const json = parseJson(response);
  const parsed = "value" in json ? tolerant.error.safeParse(json.value) : undefined;
  if (!parsed?.success) return undefined;
  const { code, message, doc_url, request_id } = parsed.data.error;
  const display = (value: string | undefined, maxLength: number) =>
    (value && oneLine(value, maxLength, response.request.redact)) || undefined;
  return {
    code: display(code, 100),
    message: display(message, 1000),
    docUrl: display(doc_url, 300),
    requestId: display(request_id, 100),
  };
}

function parseJson(response: HttpResponse): { value: unknown } | { problem: string } {
  // Unlike `toString`, this drops a byte order mark.
  const text = new TextDecoder().decode(response.body);
  if (!text.trim()) return { problem: "is empty" };
  try {
    const reviver = (key: string, value: unknown) => {
      // It would change the prototype of an object to which it is copied.
      if (key === "__proto__") return undefined;
      // No output may show the token, and a service could list it as a name, for example (no secret in the state, G8).
      return typeof value === "string" ? value.replaceAll(response.token, redactionMark) : value;
    };
    return { value: JSON.parse(text, reviver) as unknown };
  } catch {
    // The parser's own message quotes the body, which may hold secrets.
    if (isHtml(response)) return { problem: "is an HTML page, not JSON" };
    const encoding = encodingOf(response);
    const encoded = `is encoded (${encoding}), which no request asks for`;
    return { problem: encoding === undefined ? "is not JSON" : encoded };
  }
}

/** Returns how the body is encoded, such as "gzip", or undefined if it is not, or is empty. */
function encodingOf({ header, body, request }: HttpResponse): string | undefined {
  const encoding = header("content-encoding")?.trim().toLowerCase() || "identity";
  const isEncoded = encoding !== "identity" && body.length > 0;
  return isEncoded ? oneLine(encoding, 40, request.redact) : undefined;
}

/** The length of the longest string that is redacted and shown, in characters. Of a longer one, the length is shown. */
const maxTextLength = 256 * 1024;

/** Makes one line from a string of the service. Redacts it before the cut, since half a secret is not recognised. */
export function oneLine(text: string, maxLength: number, redact: (text: string) => string): string {
  if (text.length > maxTextLength) return `(${text.length} characters)`;
  const line = redact(text.replace(/\s+/g, " ")).trim();
  return (line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line).toWellFormed();
}

function isHtml(response: HttpResponse): boolean {
  const type = response.header("content-type") ?? "";
  const beginning = response.body.subarray(0, 1000).toString("utf8");
  return /html/i.test(type) || /^\s*<(!doctype|html|head|body)/i.test(beginning);
}

function excerptOf(response: HttpResponse): string {
  const { redact } = response.request;
  const encoding = encodingOf(response);
  if (encoding !== undefined) return `a body in ${encoding}`;
  const text = response.body.toString("utf8");
  if (!isHtml(response)) return oneLine(text, 200, redact);
  // A script without an end goes to the end of the page. Otherwise each such tag would cost a search through the whole page.
  const scripts = /<(script|style)\b(?:[^]*?<\/\1\s*>|[^]*)/gi;
  const words = text.replace(scripts, " ").replace(/<[^>]*>?/g, " ");
  return `an HTML page: ${oneLine(words, 60, redact)}`;
}

/** A later date has more than four digits for its year. */
const latestDate = Date.parse("9999-12-31T23:59:59Z");

/** Reads a Retry-After header: seconds or an HTTP date (RFC 9110, 10.2.3). Undefined if it is not in the future. */
export function retryAfterMs(value: string | undefined, now: Date): number | undefined {
  const text = value?.trim() ?? "";
  const isSeconds = /^\d+(\.\d+)?$/.test(text);
  const ms = isSeconds ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  return ms > 0 ? Math.min(ms, latestDate - now.getTime()) : undefined;
}
