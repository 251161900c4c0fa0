/** The service as the rest of the provider sees it: types only, so that importing them loads nothing. */
import type { Clock } from "../clock";
import type { InstanceStatus, CreateBody, ListItem, WireNetwork } from "./contract";
import type { RequestError } from "./errors";

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

/** The 202 of POST /v2/instances. */
export interface Accepted {
  id: string;
  name?: string | undefined;
  status?: string | undefined;
  createdAt?: string | undefined;
  networks: WireNetwork[];
}

/**
 * The service, one method a call of its document. Each rejects with `RequestError`, or with the
 * signal's reason when it was aborted before the request was sent.
 */
export interface ComputeApi {
  /** GET /v2/account. The answer is not shown in the document: any 200 counts, JSON or not. */
  account(signal: AbortSignal): Promise<unknown>;
  /** GET /v2/instances. */
  listPage(query: PageQuery, signal: AbortSignal): Promise<Page>;
  /**
   * POST /v2/instances, on a fresh connection, sent at most once (G2): only what the service surely
   * did not see (no connection, 429) is repeated. `unsent` stops what was not sent yet; `grace`
   * gives up on an answer under way, which leaves the outcome open (`kind` "unanswered").
   */
  createInstance(
    body: CreateBody,
    signals: { unsent: AbortSignal; grace: AbortSignal },
    turn?: Turn,
  ): Promise<Accepted>;
  /** DELETE on `compute:destroyPath`; a 404 is a `RequestError` like any other. */
  destroyInstance(id: string, signal: AbortSignal): Promise<void>;
  /** Closes idle connections. */
  close(): Promise<void>;
}

/** Follows a request through the rate limit. */
export interface Turn {
  /** From now on it waits: at first, and again after a 429 or where there was no connection. */
  awaited(): void;
  /** It is about to be sent. What this throws ends the call, and nothing is sent. */
  come(): void;
}

/** What `createClient` (in `./createClient`, which loads undici and zod) is given. */
export interface ClientOptions {
  /** Ends in /v2, without a trailing slash; https, or http on loopback. */
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
  clean: (text: string) => string;
  /** COMPUTE_DEBUG=1: takes one redacted line a request. */
  debug?: ((line: string) => void) | undefined;
  /** Told once each time a 429 makes a path pause. */
  onSlowedDown?: ((info: SlowedDown) => void) | undefined;
  /** Told of each try that failed, also where it is made again. */
  onFailedTry?: ((error: RequestError) => void) | undefined;
  /** Told of the head of each answer. */
  onAnswer?: ((head: AnswerHead) => void) | undefined;
  /** Where HTTPS_PROXY, HTTP_PROXY and NO_PROXY are looked up, in both cases. */
  env: Readonly<Record<string, string | undefined>>;
  /** 0 up to 1, for jitter. */
  random: () => number;
}

/** An answer but for its body, and between which moments of this machine's clock it was made. */
export interface AnswerHead {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  asked: Date;
  answered: Date;
}

export interface SlowedDown {
  path: string;
  retryInMs: number;
}
