/** The client of the service, as the rest of the provider sees it. Only types, so that an import loads nothing. */
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
  /** How many items could not be read. With such items, a listing never proves that an instance is absent. */
  unreadable: number;
}

/** The query of GET /v2/instances. */
export interface PageQuery {
  /** The page size, from 1 to 100. */
  limit: number;
  status?: InstanceStatus;
  /** The cursor parameter (`compute:cursorParameter`) and its value. */
  cursor?: { parameter: string; value: string };
}

/**
 * One method for each call of the service's document, and for the destroy call that the user can configure. Except for
 * `createInstance`, they reject with a `RequestError`, or with the signal's reason if the signal ended the call.
 */
export interface ComputeApi {
  /** GET /v2/account. The document does not show the response, so any 2xx is accepted, unless its body is too long. */
  account(signal: AbortSignal): Promise<unknown>;
  /** GET /v2/instances. */
  listPage(query: PageQuery, signal: AbortSignal): Promise<Page>;
  /** Waits until the rate limit allows a POST (G6). Each permit has to be used or released. */
  acquirePostPermit(signal: AbortSignal): Promise<PostPermit>;
  /**
   * Sends POST /v2/instances once, on a new connection (a create is never blindly retried, G2), and uses up the permit.
   * Never rejects. `unsent` cancels the call only as long as no byte was sent, `grace` at any time. The outcome is then
   * `notSent` if no byte was sent, and otherwise `unclear` (or `rateLimited`, if a 429 had begun to arrive).
   */
  createInstance(
    body: CreateBody,
    permit: PostPermit,
    signals: { unsent: AbortSignal; grace: AbortSignal },
  ): Promise<PostOutcome>;
  /** Sends DELETE to `compute:destroyPath`, which has to be set. A 404 is a `RequestError`, like any other error status. */
  destroyInstance(id: string, signal: AbortSignal): Promise<void>;
  /** Closes the connections that GETs and DELETEs share, each as soon as it is idle. Resolves when all are closed. */
  close(): Promise<void>;
}

/** Allows one POST. Counts towards the limit until the POST ends and, if a byte was sent, for a minute after that. */
export interface PostPermit {
  /** Returns an unused permit, which then no longer counts. Does nothing if the permit was used or released. */
  release(): void;
}

/** The options of `createClient`. */
export interface ClientOptions {
  /** As the check of the settings returns it: https, or http on loopback, and with /v2 at the end. */
  baseUrl: string;
  token: string;
  /** Called when a token is refused with 401. Resolves to a new one for all later requests, or undefined. Never rejects. */
  renewToken?: ((refused: string) => Promise<string | undefined>) | undefined;
  /** The time-out of a whole HTTP request, from connecting to the last byte of the response. */
  requestTimeoutMs: number;
  /** The service's own limit. The client stays 5 % below it (G6). */
  requestsPerMinute: number;
  /** The setting `compute:destroyPath`, for example /v2/instances/{id}. */
  destroyPath?: string | undefined;
  /** The header: `pulumi-compute/VERSION`. */
  userAgent: string;
  clock: Clock;
  /** Removes control characters and secrets from a string (G8). */
  redact: (text: string) => string;
  /** Called with one redacted line for each try of a request. Set if COMPUTE_DEBUG=1. */
  debug?: ((line: string) => void) | undefined;
  /** Called once for each pause that a 429 begins. */
  onSlowedDown?: ((info: SlowedDown) => void) | undefined;
  /** Called for each failed try of a GET or DELETE, but not for a 401 that only leads to a new token. */
  onFailedTry?: ((error: RequestError) => void) | undefined;
  /** The environment, which may name proxies. */
  env: Readonly<Record<string, string | undefined>>;
  /** Returns a number from 0 up to 1, for jitter. */
  random: () => number;
  /** Makes undici's object that sends requests: one for each POST, one for all others. The default uses `env`. */
  createDispatcher?: (() => Dispatcher) | undefined;
}

/** An endpoint that answered with a 429, and the time until the client calls it again. */
export interface SlowedDown {
  method: string;
  path: string;
  retryInMs: number;
}
