import * as crypto from "node:crypto";
import metadata from "../../metadata.json";
import { raceAbort } from "../abort";
import { explain } from "../advice";
import type { ClientOptions, ComputeApi } from "../api/client";
import { RequestError } from "../api/errors";
import type { Settings } from "../config/settings";
import { OperationFailed } from "../errors";
import { tokenHash, type Origin } from "../origin";
import type { ProviderContext } from "../context";

/** The service as a session reaches it: the client, made when first needed, and the token, checked once. */
export class Connection {
  readonly #settings: Settings;
  readonly #ctx: ProviderContext;
  /** Aborted by Cancel; another one after each Handshake. */
  readonly #canceled: () => AbortSignal;
  #api: Promise<ComputeApi> | undefined;
  #opened: Promise<{ api: ComputeApi; origin: Origin }> | undefined;

  constructor(settings: Settings, ctx: ProviderContext, canceled: () => AbortSignal) {
    this.#settings = settings;
    this.#ctx = ctx;
    this.#canceled = canceled;
  }

  /**
   * The client, and where its instances live. The first call checks the token with GET /v2/account; later
   * calls check it again only where that was not possible.
   *
   * @throws OperationFailed for a token that the service refuses
   */
  open(signal: AbortSignal): Promise<{ api: ComputeApi; origin: Origin }> {
    if (!this.#opened) {
      this.#opened = this.#open();
      this.#opened.catch((error: unknown) => {
        // A refused token stays refused; any other failure may pass.
        if (!(error instanceof OperationFailed)) this.#opened = undefined;
      });
    }
    return raceAbort(this.#opened, signal);
  }

  /** The client, with the token unchecked. */
  api(): Promise<ComputeApi> {
    return (this.#api ??= this.#createApi());
  }

  /** Closes the client's connections, if there are any. */
  async close(): Promise<void> {
    const api = await this.#api?.catch(() => undefined);
    await api?.close();
  }

  /** Where the instances of this session live, without the account, which only a request tells. */
  place(): Origin {
    const { baseUrl, tokenKind } = this.#settings;
    return { baseUrl, tokenKind, tokenHash: tokenHash(this.#settings) };
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
        `the token could not be checked with the account call, and is used all the same: ${error.message}. If it is meant to be narrow, set compute:validateCredentials to false.`,
      );
      return { api, origin };
    }
  }

  async #createApi(): Promise<ComputeApi> {
    // Loaded with the first request: previews send none, and undici would cost every start of the plugin.
    const createApi = this.#ctx.createApi ?? (await import("../api/createClient.js")).createClient;
    const { messages, redactor, clock, env, randomBytes = crypto.randomBytes } = this.#ctx;
    const { baseUrl, apiToken, requestTimeoutMs, requestsPerMinute, destroyPath } = this.#settings;
    const options: ClientOptions = {
      ...{ baseUrl, token: apiToken, requestTimeoutMs, requestsPerMinute, destroyPath },
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
      // For example, a proxy variable of the environment that is no address.
      const why = error instanceof Error ? error.message : String(error);
      throw new OperationFailed(`the service can't be called with these settings: ${why}`);
    }
  }
}

/** The id in an answer of the account call; undefined where it has none. The document shows no fields. */
export function accountId(account: unknown): string | undefined {
  const id =
    typeof account === "object" && account !== null && "id" in account ? account.id : undefined;
  // As the state gives it back, which can't hold half a character.
  return typeof id === "string" && id !== "" ? id.toWellFormed() : undefined;
}
