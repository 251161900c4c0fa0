/** The connection of a session to the service: the API client and the token. */
import * as crypto from "node:crypto";
import metadata from "../../metadata.json";
import { raceAbort } from "../abort";
import { afterChange, nextStep, settingWords, type SettingPlaces } from "../advice";
import type { ComputeApi } from "../api/client";
import { RequestError } from "../api/requestError";
import { maxIdLength, paths, tokenKindOf } from "../api/serviceConstants";
import type { Settings } from "../config/settings";
import { readTokenFile, tokenFileProblem, type TokenFileContent } from "../config/tokenFile";
import { Once } from "../once";
import { tokenHash, type Origin } from "../origin";
import type { ProviderContext } from "../context";
import { waits, type Operation, type Operations } from "./operations";

/** What a connection is made with. */
interface Parts {
  readonly settings: Settings;
  readonly ctx: ProviderContext;
  /** Returns the signal that Cancel aborts. */
  readonly canceled: () => AbortSignal;
  readonly operations: Operations;
  readonly patienceMs: number;
  readonly places: SettingPlaces;
}

/** Makes the API client of a session when it is first needed, and checks the token once. */
export class Connection {
  readonly #parts: Parts;
  #api: Promise<ComputeApi> | undefined;
  /** The check of the token, unless the next call must check again. */
  #opened: Promise<{ api: ComputeApi; account: string | undefined }> | undefined;
  /** As `isOpen`. */
  #hasOrigin = false;
  /** What was said about the token's file. */
  readonly #said = new Once();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Returns the client, and the origin of this session's instances (service, kind and hash of the token, account). The first
   * call checks the token with GET /v2/account, unless compute:validateCredentials is false. After an answer other than 401
   * that a retry would not change, a warning is shown and the token is used.
   *
   * @throws RequestError if the service refuses the token (401), if no client can be made with the settings, or if the token could
   *   not be checked and a later check may succeed
   * @throws the error that ended the operation
   */
  async open(operation: Operation): Promise<{ api: ComputeApi; origin: Origin }> {
    const { signal } = operation;
    // The account call is sent once. After that, its pauses hold nothing up.
    using _wait = this.#hasOrigin ? undefined : operation.waiting(waits.account);
    signal.throwIfAborted();
    this.#opened ??= this.#open().catch((error: unknown) => {
      const isLasting = error instanceof RequestError && !error.transient;
      if (!isLasting) this.#opened = undefined;
      throw error;
    });
    const { api, account } = await raceAbort(this.#opened, signal);
    return { api, origin: { ...this.origin(), ...(account !== undefined && { account }) } };
  }

  /** Whether `open` has returned an origin. */
  get isOpen(): boolean {
    return this.#hasOrigin;
  }

  /** Returns the client, without checking the token. */
  api(): Promise<ComputeApi> {
    return (this.#api ??= this.#createApi());
  }

  /** Closes the connections of the client, if there is one. */
  async close(): Promise<void> {
    const api = await this.#api?.catch(() => undefined);
    await api?.close();
  }

  /** Returns the origin without the account, which only a request could find out. */
  origin(): Origin {
    const { settings } = this.#parts;
    const { baseUrl, tokenKind } = settings;
    return { baseUrl, tokenKind, tokenHash: tokenHash(settings) };
  }

  /**
   * Reads the file once after the service refused a token. Returns the token to use, or undefined if the file has no other usable
   * one. What the state knows of the refused token then proves nothing by itself (G3): the origin has the hash of the new one.
   */
  #renewToken(refused: string): string | undefined {
    const { settings, ctx } = this.#parts;
    const { messages } = ctx;
    const { apiTokenFile: file } = settings;
    // The token was renewed after the refused request was sent.
    if (refused !== settings.apiToken) return settings.apiToken;
    if (file === undefined) return undefined;
    const found = this.#readNewToken(file);
    if ("problem" in found) {
      const warning = `the service refused the token, and no other can be used: ${found.problem}`;
      if (this.#said.markSaid(warning)) messages.warning(warning);
      return undefined;
    }
    settings.apiToken = found.token;
    messages.info(`the service refused the token; the run continues with the new one in ${file}`);
    return found.token;
  }

  /** Returns the token in the file, or why this session can't use it. */
  #readNewToken(file: string): TokenFileContent {
    const { settings, ctx } = this.#parts;
    const { apiToken, tokenKind } = settings;
    const content = readTokenFile(file, ctx.redactor);
    if ("problem" in content) return content;
    if (content.token === apiToken) return tokenFileProblem(file, "still holds the refused token");
    const kind = tokenKindOf(content.token);
    // Settings of the session, such as the delete policy, depend on the kind of the token that it began with.
    return kind === tokenKind
      ? content
      : tokenFileProblem(
          file,
          `holds a ${kind} token now, but this run began with a ${tokenKind} one`,
        );
  }

  async #open(): Promise<{ api: ComputeApi; account: string | undefined }> {
    const api = await this.api();
    const { validateCredentials } = this.#parts.settings;
    const account = validateCredentials ? await this.#account(api) : undefined;
    this.#hasOrigin = true;
    return { api, account };
  }

  async #account(api: ComputeApi): Promise<string | undefined> {
    try {
      return accountId(await api.account(this.#parts.canceled()));
    } catch (error) {
      if (!(error instanceof RequestError && error.isFinalNo)) throw error;
      const { ctx, places } = this.#parts;
      const advice =
        error.about === "scope"
          ? `If the token is meant to lack the scope for that call, set compute:validateCredentials to false${afterChange("validateCredentials", places)}.`
          : nextStep(error);
      ctx.messages.warning(
        `the token could not be checked with the account call, and is used anyway: ${error.message}. ${advice}`,
      );
      return undefined;
    }
  }

  async #createApi(): Promise<ComputeApi> {
    const { settings, ctx, operations, patienceMs, places } = this.#parts;
    const words = settingWords(places);
    // Many previews send no request, and loading undici takes time.
    const createApi = ctx.createApi ?? (await import("../api/client.js")).createClient;
    const { messages, redactor, clock, env, randomBytes = crypto.randomBytes } = ctx;
    const { baseUrl, apiToken, requestTimeoutMs, requestsPerMinute, destroyPath } = settings;
    const severity = env["COMPUTE_DEBUG"] === "1" ? "info" : "debug";
    try {
      return createApi({
        baseUrl,
        token: apiToken,
        requestTimeoutMs,
        requestsPerMinute,
        patienceMs,
        words,
        destroyPath,
        userAgent: `pulumi-compute/${metadata.version}`,
        clock,
        env,
        redact: (text) => redactor.redact(text),
        random: () => Buffer.from(randomBytes(4)).readUInt32BE() / 2 ** 32,
        log: (line) => messages[severity](line),
        renewToken: (refused) => this.#renewToken(refused),
        onRetry: (retry) => {
          const { error, inMs } = retry;
          messages.debug(`${error.message}; next try in ${Math.round(inMs / 1000)} s`);
          operations.retrying(retry);
        },
      });
    } catch (error) {
      // For example, a proxy variable of the environment is not an address.
      const reason = error instanceof Error ? error.message : String(error);
      const cause = `the service can't be called with these settings: ${reason}`;
      const { account: path } = paths;
      throw new RequestError({ kind: "unsendable", method: "GET", path, cause, words });
    }
  }
}

/**
 * Returns the id in a response to GET /v2/account, or undefined if it has none, or one that is too long. The service's API
 * document does not describe this response.
 */
export function accountId(account: unknown): string | undefined {
  const { id } = Object(account) as { id?: unknown };
  if (typeof id !== "string" || id === "" || id.length > maxIdLength) return undefined;
  // The state can't hold half a surrogate pair, and the id is compared with the one in the state.
  return id.toWellFormed();
}
