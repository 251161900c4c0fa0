/**
 * The connection of a session to the service: the API client and the token. The operations get their client
 * here.
 */
import * as crypto from "node:crypto";
import metadata from "../../metadata.json";
import { deadline, raceAbort } from "../abort";
import { explain, nextStep } from "../advice";
import type { ClientOptions, ComputeApi } from "../api/client";
import { RequestError } from "../api/errors";
import { pageLimit, tokenKindOf } from "../api/serviceConstants";
import type { Settings } from "../config/settings";
import { readTokenFile, tokenFileProblem, type TokenFileContent } from "../config/tokenFile";
import { OperationFailed } from "../errors";
import { tokenHash, type Origin } from "../origin";
import type { ProviderContext } from "../context";

/** After a 401, the token's file is searched this long for a new token. */
const newTokenMs = 2000;
/** The pause between two reads of the file in this search. */
const rereadMs = 250;
/** How long the check of a new token may take. */
const checkSeconds = 10;

/**
 * Makes the API client of a session when it is first needed, and checks the token once. Also returns the origin of the
 * session's instances (`Origin`): the service, the kind and hash of the token, and the account if it is known.
 */
export class Connection {
  readonly #settings: Settings;
  readonly #ctx: ProviderContext;
  /** Returns the signal that Cancel aborts. */
  readonly #canceled: () => AbortSignal;
  /** Whether this session has seen the instance with this id, in its latest listing or as its own. */
  readonly #isKnown: (id: string) => boolean;
  #api: Promise<ComputeApi> | undefined;
  /** The check of the token, which is running, has succeeded, or has failed for good. Undefined if the next call must check. */
  #opened: Promise<{ api: ComputeApi; origin: Origin }> | undefined;
  /** The token that the client uses. */
  #token: string;
  /** Whether `open` has given out an origin. From then on, the session belongs to the tenant of the token that it had then. */
  #hasOrigin = false;
  /** The search for a new token that is under way. */
  #renewal: Promise<string | undefined> | undefined;
  /** The problem that the last warning about the token's file named. */
  #lastProblem: string | undefined;

  constructor(
    settings: Settings,
    ctx: ProviderContext,
    canceled: () => AbortSignal,
    isKnown: (id: string) => boolean,
  ) {
    this.#isKnown = isKnown;
    this.#settings = settings;
    this.#token = settings.apiToken;
    this.#ctx = ctx;
    this.#canceled = canceled;
  }

  /**
   * Returns the client, and the origin of the instances of this session. The first call checks the token with GET
   * /v2/account, unless compute:validateCredentials is false. A 401 is an `OperationFailed`. After another answer that a
   * retry would not change, for example a 403, a warning is shown and the token is used. After any other failure, for
   * example a time-out, the next call checks the token again.
   *
   * @throws OperationFailed if the service refuses the token (401), or if no client can be made with the settings
   * @throws RequestError if the token could not be checked and a later check may succeed
   * @throws the reason of `signal`, or of the signal that Cancel aborts
   */
  open(signal: AbortSignal): Promise<{ api: ComputeApi; origin: Origin }> {
    if (!this.#opened) {
      this.#opened = this.#open();
      this.#opened.catch((error: unknown) => {
        // After an OperationFailed, every later call fails too. After any other failure, the next call checks again.
        if (!(error instanceof OperationFailed)) this.#opened = undefined;
      });
    }
    return raceAbort(this.#opened, signal);
  }

  /** Returns the client, without checking the token. */
  api(): Promise<ComputeApi> {
    const { apiTokenFile } = this.#settings;
    this.#api ??= this.#createApi(
      this.#token,
      apiTokenFile === undefined ? undefined : (refused) => this.#renewToken(apiTokenFile, refused),
    );
    return this.#api;
  }

  /** Closes the connections of the client, if there is a client. */
  async close(): Promise<void> {
    const api = await this.#api?.catch(() => undefined);
    await api?.close();
  }

  /** Returns the origin of this session's instances, but without the account, which only a request could find out. */
  place(): Origin {
    const { baseUrl, tokenKind } = this.#settings;
    return { baseUrl, tokenKind, tokenHash: tokenHash(this.#settings) };
  }

  /**
   * Resolves to the token to use after the service refused one, or to undefined if the token's file has no other usable
   * token. Requests that are refused at the same time share one search. Never rejects.
   */
  #renewToken(file: string, refused: string): Promise<string | undefined> {
    // The token was renewed after the refused request was sent.
    if (refused !== this.#token) return Promise.resolve(this.#token);
    this.#renewal ??= this.#searchNewToken(file)
      .catch(() => undefined)
      .finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }

  /**
   * Reads the file again and again until it has another usable token, for about `newTokenMs` at most. The program that
   * writes the file may replace the token a moment later than the service does.
   */
  async #searchNewToken(file: string): Promise<string | undefined> {
    const { clock, messages } = this.#ctx;
    const end = clock.now() + newTokenMs;
    for (;;) {
      const hadOrigin = this.#hasOrigin;
      const found = await this.#readNewToken(file);
      // Another call has made the first origin meanwhile, so read again, this time with the check of the tenant.
      if (hadOrigin !== this.#hasOrigin) continue;
      if ("token" in found) {
        this.#token = found.token;
        // Nothing was hashed with the old token yet. Later, the settings keep the first token, so that all hashes of a
        // session agree.
        if (!this.#hasOrigin) this.#settings.apiToken = found.token;
        messages.info(
          `the service refused the token; the run continues with the new one in ${file}`,
        );
        return found.token;
      }
      if (clock.now() >= end) return this.#warnOfToken(found.problem);
      await clock.sleep(rereadMs, this.#canceled());
    }
  }

  /**
   * Reads the new token. Once this session has an origin, the new token must be of the same tenant. With another tenant's
   * token, listings would lack the instances of this run, and the instances would wrongly count as gone (G3).
   */
  async #readNewToken(file: string): Promise<TokenFileContent> {
    const content = readTokenFile(file, this.#ctx.redactor);
    if ("problem" in content) return content;
    const { tokenKind } = this.#settings;
    const problemWith = (problem: string) => tokenFileProblem(file, problem);
    if (content.token === this.#token) return problemWith("still holds the refused token");
    const newKind = tokenKindOf(content.token);
    // Settings of the session, such as the delete policy, depend on the kind of the token that it began with.
    if (newKind !== tokenKind) {
      return problemWith(
        `holds a ${newKind} token now, but this run began with a ${tokenKind} one`,
      );
    }
    const doubt = this.#hasOrigin ? await this.#doubtOfTenant(content.token) : undefined;
    return doubt === undefined
      ? content
      : problemWith(`holds another token now, ${doubt}. Run again to use it`);
  }

  /**
   * Returns why the token may be of another tenant than this session, as a clause. Undefined if a listing with the
   * token shows an instance that this session has seen, in its latest listing or as its own.
   */
  async #doubtOfTenant(token: string): Promise<string | undefined> {
    const api = await this.#createApi(token);
    using end = deadline(this.#ctx.clock, checkSeconds, this.#canceled());
    try {
      const { items } = await api.listPage({ limit: pageLimit.max }, end.signal);
      if (items.some(({ id }) => this.#isKnown(id))) return undefined;
      return "and it may be another tenant's, because its listing shows no instance that this run has seen";
    } catch (error) {
      return `but its listing failed (${(error as Error).message})`;
    } finally {
      await api.close();
    }
  }

  #warnOfToken(problem: string): undefined {
    if (this.#lastProblem === problem) return;
    this.#lastProblem = problem;
    this.#ctx.messages.warning(
      `the service refused the token, and no other can be used: ${problem}`,
    );
  }

  async #open(): Promise<{ api: ComputeApi; origin: Origin }> {
    const api = await this.api();
    if (!this.#settings.validateCredentials) return { api, origin: this.#firstOrigin() };
    try {
      const account = accountId(await api.account(this.#canceled()));
      const origin = this.#firstOrigin();
      return { api, origin: account === undefined ? origin : { ...origin, account } };
    } catch (error) {
      if (!(error instanceof RequestError) || error.kind !== "answered") throw error;
      if (error.status === 401) throw new OperationFailed(explain(error));
      if (error.transient) throw error;
      const advice =
        error.status === 403
          ? "If the token is meant to lack the scope for that call, set compute:validateCredentials to false."
          : nextStep(error);
      this.#ctx.messages.warning(
        `the token could not be checked with the account call, and is used anyway: ${error.message}. ${advice}`,
      );
      return { api, origin: this.#firstOrigin() };
    }
  }

  /** Returns the origin without the account. From now on, the session belongs to the tenant of this token. */
  #firstOrigin(): Origin {
    this.#hasOrigin = true;
    return this.place();
  }

  async #createApi(token: string, renewToken?: ClientOptions["renewToken"]): Promise<ComputeApi> {
    // The client is loaded with the first request, because many previews send none, and loading undici takes time.
    const createApi = this.#ctx.createApi ?? (await import("../api/createClient.js")).createClient;
    const { messages, redactor, clock, env, randomBytes = crypto.randomBytes } = this.#ctx;
    const { baseUrl, requestTimeoutMs, requestsPerMinute, destroyPath } = this.#settings;
    const options: ClientOptions = {
      baseUrl,
      token,
      requestTimeoutMs,
      requestsPerMinute,
      destroyPath,
      renewToken,
      userAgent: `pulumi-compute/${metadata.version}`,
      clock,
      env,
      redact: (text) => redactor.redact(text),
      random: () => Buffer.from(randomBytes(4)).readUInt32BE() / 2 ** 32,
      debug: env["COMPUTE_DEBUG"] === "1" ? (line) => messages.info(line) : undefined,
      onSlowedDown: ({ method, path, retryInMs }) =>
        messages.debug(
          `${method} ${path} answered 429; next request in ${Math.round(retryInMs / 1000)} s`,
        ),
    };
    try {
      return createApi(options);
    } catch (error) {
      // For example, a proxy variable of the environment is not an address.
      const reason = error instanceof Error ? error.message : String(error);
      throw new OperationFailed(`the service can't be called with these settings: ${reason}`);
    }
  }
}

/**
 * Returns the id in a response to GET /v2/account, or undefined if it has no id that is a string. The service's API
 * document does not describe the fields of this response.
 */
export function accountId(account: unknown): string | undefined {
  const id =
    typeof account === "object" && account !== null && "id" in account ? account.id : undefined;
  // The state can't hold half a surrogate pair, and the id is compared with the one in the state.
  return typeof id === "string" && id !== "" ? id.toWellFormed() : undefined;
}
