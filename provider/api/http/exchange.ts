/** What passes along the chain of links: a request on its way out, an answer on its way back. */
import type { Permit } from "./rateLimit";

export interface HttpRequest {
  method: "GET" | "POST" | "DELETE";
  /** As the document writes it (/v2/…), without the query: for errors. */
  path: string;
  /** What the rate limit counts by, with the method: the path, or its template where it holds an id. */
  endpoint: string;
  /** Path and query as they go over the wire. */
  target: string;
  /** JSON; never logged, never in an error (G8). */
  body?: string;
  /** A longer answer is given up on. */
  maxBytes: number;
  /** The status alone says everything: a body that is cut or too long does not matter. */
  statusIsEnough?: boolean;
  /** Stops the request as long as nothing was sent. */
  unsent: AbortSignal;
  /** Gives up on a request under way. The same signal as `unsent`, but for POST. */
  underWay: AbortSignal;
  /** Got beforehand; left out, the request waits for one. */
  permit?: Permit;
  /** Makes text from the answer fit to be shown: cleaned, redacted, without an echo of the body. */
  redact: (text: string) => string;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  /** `body` is the beginning of something longer. */
  partial: boolean;
}

export type Send = (call: HttpRequest) => Promise<HttpResponse>;

/** One link: takes the rest of the chain, gives back a longer one. */
export type Middleware = (next: Send) => Send;

/** Strings links together, outermost first. */
export function chain(links: Middleware[], send: Send): Send {
  return links.reduceRight((next, link) => link(next), send);
}

export function header(answer: HttpResponse, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

export const isSuccess = (status: number): boolean => status >= 200 && status < 300;
