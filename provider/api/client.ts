/** The service as the rest of the provider sees it: types only, so that importing them loads nothing. */
import type { Dispatcher } from "undici";
import type { Clock } from "../clock";
import type { InstanceStatus, CreateBody, ListItem } from "./contract";
import type { RequestError } from "./errors";
import type { PostOutcome } from "./postOutcome";

export type { Accepted } from "./postOutcome";

/** One page of GET /v2/instances. */
export interface Page {
  items: ListItem[];
  hasMore: boolean;
  /** Items that could not be read (no id, not an object): counted, so that a listing with one never proves absence. */
  unreadable: number;
}

export interface PageQuery {
  /** 1 to 100. */
  limit: number;
  status?: InstanceStatus;
  /** Name and value of the cursor parameter, where the service has one (`compute:cursorParameter`). */
  cursor?: { parameter: string; value: string };
}

/**
 * The service, with a method for each call of its document. Each but `createInstance` rejects with `RequestError`,
 * or with the signal's reason when it was aborted before the request was sent.
 */
export interface ComputeApi {
  /** GET /v2/account. The answer is not shown in the document: any 200 counts, JSON or not. */
  account(signal: AbortSignal): Promise<unknown>;
  /** GET /v2/instances. */
  listPage(query: PageQuery, signal: AbortSignal): Promise<Page>;
  /**
   * Waits until the rate limit lets a POST go (G6); rejects with the signal's reason. Each permit is
   * either used or released.
   */
  createPermit(signal: AbortSignal): Promise<CreatePermit>;
  /**
   * POST /v2/instances, once, on a fresh connection (G2). Never rejects, and uses up the permit. When
   * `unsent` is aborted before a byte was sent, nothing is (`notSent`); when `grace` is aborted, an answer
   * that has not come is no longer waited for (`unclear`).
   */
  createInstance(
    body: CreateBody,
    permit: CreatePermit,
    signals: { unsent: AbortSignal; grace: AbortSignal },
  ): Promise<PostOutcome>;
  /** DELETE on `compute:destroyPath`; a 404 is a `RequestError` like any other. */
  destroyInstance(id: string, signal: AbortSignal): Promise<void>;
  /** Closes idle connections. */
  close(): Promise<void>;
}

/**
 * Lets one POST leave. It counts towards the limit from when it is given until a minute after the end of its
 * request; not at all where nothing was sent.
 */
export interface CreatePermit {
  /** Gives an unused one back. Does nothing after use, or when it was given back before. */
  release(): void;
}

/** What `createClient` (in `./createClient`, which loads undici and zod) is given. */
export interface ClientOptions {
  /** As `normaliseBaseUrl` gives it: https, or http on loopback, and ends in /v2. */
  baseUrl: string;
  token: string;
  /** For one HTTP request as a whole: connecting, sending, and the last byte of the answer. */
  requestTimeoutMs: number;
  /** The service's own limit; 5 % less is used (G6). */
  requestsPerMinute: number;
  /** `compute:destroyPath`, like /v2/instances/{id}. */
  destroyPath?: string | undefined;
  /** `pulumi-compute/VERSION`. */
  userAgent: string;
  clock: Clock;
  /** Removes control characters and redacts secrets (G8). */
  redact: (text: string) => string;
  /** COMPUTE_DEBUG=1: takes one redacted line a request. */
  debug?: ((line: string) => void) | undefined;
  /** Told once each time a 429 makes an endpoint pause. */
  onSlowedDown?: ((info: SlowedDown) => void) | undefined;
  /** Told of each try that failed, also where it is made again. */
  onFailedTry?: ((error: RequestError) => void) | undefined;
  /** Where HTTPS_PROXY, HTTP_PROXY and NO_PROXY are looked up, in both cases. */
  env: Readonly<Record<string, string | undefined>>;
  /** 0 up to 1, for jitter. */
  random: () => number;
  /** Makes what sends requests: one for each POST, one for all others. Left out: undici's, through the proxy of `env`. */
  connect?: (() => Dispatcher) | undefined;
}

export interface SlowedDown {
  method: string;
  path: string;
  retryInMs: number;
}
