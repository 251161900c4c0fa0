/**
 * The interface of the client of the service, which the rest of the provider uses. This file has only types, so
 * that importing it loads nothing.
 */
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
  /**
   * How many items could not be read (for example without an id). A listing with unreadable items never proves that an
   * instance is absent.
   */
  unreadable: number;
}

/** The query of GET /v2/instances. */
export interface PageQuery {
  /** The page size, from 1 to 100. */
  limit: number;
  status?: InstanceStatus;
  /** The name and value of the cursor parameter, if the user configured one (`compute:cursorParameter`). */
  cursor?: { parameter: string; value: string };
}

/**
 * The client, with a method for each call of the service's API document, and for the destroy call that the user can
 * configure. A method with a signal rejects with a `RequestError`, or with the signal's reason if the signal ended the
 * call. Only `createInstance` never rejects.
 */
export interface ComputeApi {
  /** GET /v2/account. The document does not show the response, so any 2xx is accepted, unless its body is too long. */
  account(signal: AbortSignal): Promise<unknown>;
  /** GET /v2/instances. */
  listPage(query: PageQuery, signal: AbortSignal): Promise<Page>;
  /**
   * Waits until the client may send a POST without exceeding the rate limit (G6). Each permit has to be used or
   * released.
   */
  acquirePostPermit(signal: AbortSignal): Promise<PostPermit>;
  /**
   * Sends POST /v2/instances once, on a new connection (a create is never blindly retried, G2). Never rejects, and
   * uses up the permit. Aborting `unsent` cancels the call only as long as no byte was sent. Aborting `grace`
   * cancels the call at any time. The outcome of a cancelled call is `notSent` if no byte was sent, and otherwise
   * `unclear` (or `rateLimited`, if a 429 had begun to arrive).
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

/**
 * Allows one POST. The permit counts towards the limit until the POST ends and, if a byte was sent, for a minute after
 * that.
 */
export interface PostPermit {
  /** Returns an unused permit, which then no longer counts. Does nothing if the permit was used or released. */
  release(): void;
}

/** The options of `createClient`, which is in a file of its own because it loads undici and zod. */
export interface ClientOptions {
  /** The base address as the check of the settings returns it: https, or http on loopback, and with /v2 at the end. */
  baseUrl: string;
  token: string;
  /**
   * Called when the service refuses a token with 401. Resolves to a new token, which all later requests use, or to
   * undefined if there is no new token. Never rejects. Not set if the token can't change.
   */
  renewToken?: ((refused: string) => Promise<string | undefined>) | undefined;
  /** The time-out of a whole HTTP request, from connecting to the last byte of the response. */
  requestTimeoutMs: number;
  /** The service's own limit. The client uses 5 % less, so that a run does not use up the limit (G6). */
  requestsPerMinute: number;
  /** The setting `compute:destroyPath`, for example /v2/instances/{id}. */
  destroyPath?: string | undefined;
  /** The User-Agent header, which is `pulumi-compute/VERSION`. */
  userAgent: string;
  clock: Clock;
  /** Removes control characters and secrets from a string (G8). */
  redact: (text: string) => string;
  /** Called with one redacted line for each try of a request. Set if COMPUTE_DEBUG=1. */
  debug?: ((line: string) => void) | undefined;
  /** Called once for each pause that a 429 begins. */
  onSlowedDown?: ((info: SlowedDown) => void) | undefined;
  /**
   * Called for each failed try of a GET or DELETE, even if another try follows. Not called for a 401 after which the
   * request is sent again with a new token.
   */
  onFailedTry?: ((error: RequestError) => void) | undefined;
  /** The environment, with HTTPS_PROXY, HTTP_PROXY and NO_PROXY or their lower-case forms. */
  env: Readonly<Record<string, string | undefined>>;
  /** Returns a number from 0 up to 1, for jitter. */
  random: () => number;
  /**
   * Makes a dispatcher, which is undici's object that sends requests over connections. Called once for every POST, and
   * once for the dispatcher that all other requests share. The default makes a dispatcher with the proxy from `env`.
   */
  createDispatcher?: (() => Dispatcher) | undefined;
}

/** The endpoint that returned a 429, and how long the client waits before it calls that endpoint again. */
export interface SlowedDown {
  method: string;
  path: string;
  retryInMs: number;
}
