/** What the client of the service needs to know. */
import type { Dispatcher } from "undici";
import type { Clock } from "../clock";
import type { RequestError, SettingWords } from "./requestError";

/** A failed try of a request, after which the client, or the caller of a POST, tries again. */
export interface Retry {
  method: string;
  /** What the rate limit counts by: the path, or the template of a path with an id. */
  path: string;
  error: RequestError;
  /** The time until the next try at the earliest. */
  inMs: number;
  /** Whether the service asked for that time (429 or 503 with Retry-After). */
  isAsked: boolean;
}

/** The options of `createClient`. */
export interface ClientOptions {
  /** As the check of the settings returns it: https, or http on loopback, and with /v2 at the end. */
  baseUrl: string;
  token: string;
  /** Called when the service itself refuses a token (401). Returns a new one for all later requests, or undefined. */
  renewToken?: ((refused: string) => string | undefined) | undefined;
  /** What each error carries for its advice. */
  words?: SettingWords | undefined;
  /** The time-out of a whole HTTP request, from connecting to the last byte of the response. */
  requestTimeoutMs: number;
  /**
   * For how long a GET or DELETE that fails, and may succeed later, is sent again. What the service asks to wait (`isAsked`) does
   * not count.
   */
  patienceMs: number;
  /** The service's own limit for each endpoint. The client stays 5 % below it (G6). */
  requestsPerMinute: number;
  /** The path of the DELETE (`compute:destroyPath`), for example /v2/instances/{id}. */
  destroyPath?: string | undefined;
  /** The header: `pulumi-compute/VERSION`. */
  userAgent: string;
  clock: Clock;
  /** Removes control characters and secrets from a string (G8). */
  redact: (text: string) => string;
  /** Called with one redacted line for each try of a request. */
  log: (line: string) => void;
  /**
   * Called after each failed try that is to be repeated. After a 429, it is called once for all requests of the endpoint, and
   * again if another 429 makes the pause longer by a second or more.
   */
  onRetry?: ((retry: Retry) => void) | undefined;
  /** The environment, which may name proxies. */
  env: Readonly<Record<string, string | undefined>>;
  /** Returns a number from 0 up to 1, for jitter. */
  random: () => number;
  /** Makes undici's dispatcher: one for each POST, and one that all other requests share. The default uses `env`. */
  createDispatcher?: (() => Dispatcher) | undefined;
}
