/**
 * The connection of a session to the service: the API client and the token. The operations get their client
 * here.
 */
import * as crypto from "node:crypto";
import metadata from "../../metadata.json";
import { raceAbort } from "../abort";
import { explain } from "../advice";
import type { ClientOptions, ComputeApi } from "../api/client";
import { RequestError } from "../api/errors";
import { tokenKindOf } from "../api/serviceConstants";
import type { Settings } from "../config/settings";
import { readTokenFile, tokenFileVariable } from "../config/tokenFile";
import { OperationFailed } from "../errors";
import { tokenHash, type Origin } from "../origin";
import type { ProviderContext } from "../context";

/** Makes the API client of a session when it is first needed, and checks the token once. */
export class Connection {
  readonly #settings: Settings;
  readonly #ctx: ProviderContext;
  /** Returns the signal that Cancel aborts. */
  readonly #canceled: () => AbortSignal;
  #api: Promise<ComputeApi> | undefined;
  /** The check of the token: still running, successful, or failed for good. Undefined if the next call must check. */
  #opened: Promise<{ api: ComputeApi; origin: Origin }> | undefined;
  /** The token that the client uses. */
  #token: string;
  #renewals = 0;
  /** The last warning about the file of the token. */
  #warned: string | undefined;

  constructor(settings: Settings, ctx: ProviderContext, canceled: () => AbortSignal) {
    this.#settings = settings;
    this.#token = settings.apiToken;
    this.#ctx = ctx;
    this.#canceled = canceled;
  }

  /**
   * Returns the client, and the origin of the instances of this session. The first call checks the token with GET
   * /v2/account, unless compute:validateCredentials is false. If that request fails, for
   * example by a time-out, the next call checks the token again. If the service answers with an error that will not pass
   * and is no 401, such as a 403, a warning is shown and the token is used.
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
    return (this.#api ??= this.#createApi());
  }

  /** Closes the connections of the client, if there is a client. */
  async close(): Promise<void> {
    const api = await this.#api?.catch(() => undefined);
    await api?.close();
  }

  /**
   * How often the token was renewed from its file. A new token may be another tenant's. So after a renewal, a listing
   * that lacks an instance needs the proof that G3 asks for with another token. The session keeps the origin of the
   * token that it began with, so the next run needs that proof, too, until it has seen the instance.
   */
  get renewals(): number {
    return this.#renewals;
  }

  /** Returns the origin of the instances of this session, without the account, for which a request is needed. */
  place(): Origin {
    const { baseUrl, tokenKind } = this.#settings;
    return { baseUrl, tokenKind, tokenHash: tokenHash(this.#settings) };
  }

  /**
   * Reads the file of the token anew, after the service refused a token. Returns the token in the file, or undefined
   * if the file has no other usable token.
   */
  #renewToken(file: string, refused: string): string | undefined {
    const { messages, redactor } = this.#ctx;
    const { tokenKind } = this.#settings;
    const content = readTokenFile(file, redactor);
    if ("problem" in content) return this.#warn(content.problem);
    const { token } = content;
    if (token === refused) return undefined;
    if (token === this.#token) return token;
    const newKind = tokenKindOf(token);
    // The policies of the session were chosen for the kind of the token that it began with.
    if (newKind !== tokenKind) {
      return this.#warn(
        `${tokenFileVariable} (${file}) holds a ${newKind} token now, but this run began with a ${tokenKind} one`,
      );
    }
    this.#token = token;
    this.#renewals++;
    messages.info(`the service refused the token; the run continues with the new one in ${file}`);
    return token;
  }

  #warn(problem: string): undefined {
    if (this.#warned === problem) return;
    this.#warned = problem;
    this.#ctx.messages.warning(
      `the service refused the token, and there is no new one: ${problem}`,
    );
  }

  async #open(): Promise<{ api: ComputeApi; origin: Origin }> {
    const api = await this.api();
    const origin = this.place();
    if (!this.#settings.validateCredentials) return { api, origin };
    try {
      const account = accountId(await api.account(this.#canceled()));
      return { api, origin: account === undefined ? origin : { ...origin, account } };
    } catch (error) {
      if (!(error instanceof RequestError) || error.kind !== "answered") throw error;
      if (error.status === 401) throw new OperationFailed(explain(error));
      if (error.transient) throw error;
      this.#ctx.messages.warning(
        `the token could not be checked with the account call, and is used anyway: ${error.message}. If the token is meant to lack the scope for that call, set compute:validateCredentials to false.`,
      );
      return { api, origin };
    }
  }

  async #createApi(): Promise<ComputeApi> {
    // Loaded with the first request: many previews send no request, and loading undici would slow down every start.
    const createApi = this.#ctx.createApi ?? (await import("../api/createClient.js")).createClient;
    const { messages, redactor, clock, env, randomBytes = crypto.randomBytes } = this.#ctx;
    const { baseUrl, apiTokenFile, requestTimeoutMs, requestsPerMinute, destroyPath } =
      this.#settings;
    const options: ClientOptions = {
      baseUrl,
      token: this.#token,
      requestTimeoutMs,
      requestsPerMinute,
      destroyPath,
      renewToken:
        apiTokenFile === undefined
          ? undefined
          : (refused) => this.#renewToken(apiTokenFile, refused),
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
