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
  /** How many items could not be read (no id, not an object). A listing with one never proves absence. */
  unreadable: number;
}

/** The query of GET /v2/instances. */
export interface PageQuery {
  /** 1 to 100. */
  limit: number;
  status?: InstanceStatus;
  /** Name and value of the cursor parameter, if the service has one (`compute:cursorParameter`). */
  cursor?: { parameter: string; value: string };
}

/**
 * The service, with a method for each call of its document. Each but `createInstance` rejects with
 * `RequestError`, or with the signal's reason if the signal ended it.
 */
export interface ComputeApi {
  /** GET /v2/account. Its response is not shown in the document: any 2xx counts, JSON or not. */
  account(signal: AbortSignal): Promise<unknown>;
  /** GET /v2/instances. */
  listPage(query: PageQuery, signal: AbortSignal): Promise<Page>;
  /** Waits until the rate limit lets a POST go (G6). Each permit has to be used or released. */
  createPermit(signal: AbortSignal): Promise<CreatePermit>;
  /**
   * POST /v2/instances, once, on a fresh connection (G2). Never rejects, and uses up the permit. If
   * `unsent` is aborted before a byte was sent, nothing is sent (`notSent`). If `grace` is aborted after
   * that, the response is no longer waited for (`unclear`).
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

/** Lets one POST leave. It counts towards the limit until a minute after the end of its request. */
export interface CreatePermit {
  /** Gives an unused permit back, which then does not count. Does nothing after use, or a second time. */
  release(): void;
}

/** What `createClient` (in `./createClient`, which loads undici and zod) is given. */
export interface ClientOptions {
  /** As `normaliseBaseUrl` gives it: https, or http on loopback, and ends in /v2. */
  baseUrl: string;
  token: string;
  /** For one HTTP request as a whole: connecting, sending, and the last byte of the response. */
  requestTimeoutMs: number;
  /** The service's own limit; 5 % less is used (G6). */
  requestsPerMinute: number;
  /** `compute:destroyPath`, like /v2/instances/{id}. */
  destroyPath?: string | undefined;
  /** `pulumi-compute/VERSION`. */
  userAgent: string;
  clock: Clock;
  /** Removes control characters and secrets from text (G8). */
  redact: (text: string) => string;
  /** COMPUTE_DEBUG=1: takes one redacted line a request. */
  debug?: ((line: string) => void) | undefined;
  /** Called once for each pause that a 429 begins. */
  onSlowedDown?: ((info: SlowedDown) => void) | undefined;
  /** Called for each failed try of a GET or DELETE, also if another one follows. */
  onFailedTry?: ((error: RequestError) => void) | undefined;
  /** Holds HTTPS_PROXY, HTTP_PROXY and NO_PROXY, or their small-letter forms. */
  env: Readonly<Record<string, string | undefined>>;
  /** 0 up to 1, for jitter. */
  random: () => number;
  /** Makes what sends requests: one for each POST, one for all others. Default: undici, with `env`'s proxy. */
  connect?: (() => Dispatcher) | undefined;
}

/** An endpoint that pauses after a 429. */
export interface SlowedDown {
  method: string;
  path: string;
  retryInMs: number;
}
