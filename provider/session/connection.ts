/** The service as one session has it: its client, loaded when needed, and the token, checked once. */
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

export class Connection {
  #api: Promise<ComputeApi> | undefined;
  #opened: Promise<{ api: ComputeApi; origin: Origin }> | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly ctx: ProviderContext,
    /** Aborted by Cancel; a new one after each Handshake. */
    private readonly canceled: () => AbortSignal,
  ) {}

  /**
   * The client, once the token has been checked with GET /v2/account: when first needed, and again only
   * where the check could not be made.
   */
  open(signal: AbortSignal): Promise<{ api: ComputeApi; origin: Origin }> {
    if (!this.#opened) {
      this.#opened = this.#open();
      this.#opened.catch((error: unknown) => {
        // A refused token stays refused; anything else is worth asking again.
        if (!(error instanceof OperationFailed)) this.#opened = undefined;
      });
    }
    return raceAbort(this.#opened, signal);
  }

  /** The raw client, for `getAccount`, which shows what the account call answers. */
  api(): Promise<ComputeApi> {
    return (this.#api ??= this.#createApi());
  }

  /** Nothing to end where no client was made, or none could be. */
  async close(): Promise<void> {
    const api = await this.#api?.catch(() => undefined);
    await api?.close();
  }

  /** Where instances of this session live, as far as that is known without a request. */
  place(): Origin {
    const { baseUrl, tokenKind } = this.settings;
    return { baseUrl, tokenKind, tokenHash: tokenHash(this.settings) };
  }

  async #open(): Promise<{ api: ComputeApi; origin: Origin }> {
    const api = await this.api();
    const origin = this.place();
    if (!this.settings.validateCredentials) return { api, origin };
    try {
      const account = accountId(await api.account(this.canceled()));
      return { api, origin: account === undefined ? origin : { ...origin, account } };
    } catch (error) {
      if (!(error instanceof RequestError) || error.kind !== "answered") throw error;
      if (error.status === 401) throw new OperationFailed(explain(error));
      if (error.transient) throw error;
      this.ctx.messages.warning(
        `the token could not be checked with the account call, and is used all the same: ${error.message}. If it is meant to be narrow, set compute:validateCredentials to false.`,
      );
      return { api, origin };
    }
  }

  async #createApi(): Promise<ComputeApi> {
    // Loaded at the first request: previews need none, and undici costs every start of the plugin.
    const createApi = this.ctx.createApi ?? (await import("../api/createClient.js")).createClient;
    const { messages, redactor, clock, env, randomBytes = crypto.randomBytes } = this.ctx;
    const { baseUrl, apiToken, requestTimeoutMs, requestsPerMinute, destroyPath } = this.settings;
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
      // A proxy variable of the environment, say, that is no address.
      const why = error instanceof Error ? error.message : String(error);
      throw new OperationFailed(`the service can't be called with these settings: ${why}`);
    }
  }
}

/** The account's fields are not shown in the document: an `id` is used where there is one. */
export function accountId(account: unknown): string | undefined {
  const id =
    typeof account === "object" && account !== null && "id" in account ? account.id : undefined;
  // As it comes back from the state, which has no form for half a character.
  return typeof id === "string" && id !== "" ? id.toWellFormed() : undefined;
}
