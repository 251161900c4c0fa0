/**
 * The provider once it is configured: the settings in force and everything that the operations of
 * one process share. Two sessions know nothing of each other.
 */
import metadata from "../metadata.json";
import { Canceled, deadline, raceAbort } from "./abort";
import { cursorIgnored, explain } from "./advice";
import type { ClientOptions, ComputeApi } from "./api/client";
import { RequestError } from "./api/errors";
import type { Clock } from "./clock";
import type { Settings } from "./config/settings";
import { OperationFailed } from "./errors";
import { journalFolder } from "./journal/folder";
import { Journal } from "./journal/journal";
import { KnownState } from "./knownState";
import { collect } from "./listing/collect";
import { Listings } from "./listing/listings";
import { KeyedLocks } from "./locks";
import { tokenHash, type Origin } from "./origin";
import type { Messages } from "./requests";
import type { Cleaner } from "./text";
import { Poller } from "./wait/poller";
import { Room } from "./wait/room";

export interface Surroundings {
  messages: Messages;
  cleaner: Cleaner;
  clock: Clock;
  env: NodeJS.ProcessEnv;
  /** Makes the client of the service; left out, the one in `api/createClient`, loaded when needed. */
  createApi?: (options: ClientOptions) => ComputeApi;
}

/** How long a POST under way may go on to bring its id back after Ctrl-C or a time-out (G1). */
const graceMs = 10_000;

export class Session {
  readonly listings: Listings;
  readonly poller: Poller;
  readonly room: Room;
  readonly journal: Journal;
  /** POSTs of one name go one at a time (G2). */
  readonly namesInUse = new KeyedLocks();
  /** Instances that this process made or adopted: never candidates for another create. */
  readonly claimed = new Set<string>();
  /** Of those, the adopted ones: never destroyed by the same run. */
  readonly takenOver = new Set<string>();
  /** What the state holds, as far as the calls of this process tell. */
  readonly state: KnownState;

  /** Where in the order of listings the last POST of a name was settled. */
  readonly #settled = new Map<string, number>();
  readonly #warnedOf = new Set<string>();
  #api: Promise<ComputeApi> | undefined;
  #connection: Promise<{ api: ComputeApi; origin: Origin }> | undefined;

  constructor(
    readonly settings: Settings,
    readonly around: Surroundings,
    /** Aborted by Cancel; a new one after each Handshake. */
    readonly canceled: () => AbortSignal,
    /** The URN of the program's own provider resource; undefined: the default one. */
    readonly provider?: string | undefined,
  ) {
    this.listings = new Listings(
      async (signal) => {
        const { api } = await this.connect(signal);
        return collect(
          api,
          {
            cursorParameter: settings.cursorParameter,
            onCursorIgnored: (why) => this.#warnOfCursor(why),
          },
          signal,
        );
      },
      around.clock,
      canceled,
    );
    this.poller = new Poller(this.listings, around.clock, settings.pollIntervalMs);
    this.room = new Room({
      clock: around.clock,
      pollIntervalMs: settings.pollIntervalMs,
      hasCursor: settings.cursorParameter !== undefined,
      claimed: this.claimed,
    });
    this.journal = new Journal(journalFolder(around.env), (text) => around.messages.warning(text));
    this.state = new KnownState(this.journal, settings);
  }

  /**
   * The service, once the token has been checked with GET /v2/account: once a process, when first
   * needed (DESIGN section 3).
   */
  connect(signal: AbortSignal): Promise<{ api: ComputeApi; origin: Origin }> {
    if (!this.#connection) {
      this.#connection = this.#connect();
      this.#connection.catch((error: unknown) => {
        // A refused token stays refused; anything else is worth asking again.
        if (!(error instanceof OperationFailed)) this.#connection = undefined;
      });
    }
    return raceAbort(this.#connection, signal);
  }

  /** The raw client, for `getAccount`, which shows what the account call answers. */
  api(): Promise<ComputeApi> {
    return (this.#api ??= this.#createApi());
  }

  /** Clock time by which an instance of a POST at that date (ISO 8601) is in every listing. */
  settledBy(at: string): number {
    const { clock } = this.around;
    // A wall clock that was set back makes nothing longer than the settling time.
    const age = Math.max(0, clock.date().getTime() - Date.parse(at));
    return clock.now() + this.settings.settlingMs - (Number.isFinite(age) ? age : 0);
  }

  /** The last POST of this name is settled: the next takes a baseline begun after that (G2). */
  postSettled(name: string): void {
    const newest = this.listings.latest?.begun ?? 0;
    // What the newest listing was begun after holds for each to come.
    for (const [other, mark] of this.#settled) if (mark < newest) this.#settled.delete(other);
    this.#settled.set(name, this.listings.markWrite());
  }
  settledAt(name: string): number {
    return this.#settled.get(name) ?? 0;
  }

  /** What the service's own limits do to many instances alike is said of the first one only. */
  warnOnce(matter: string, text: string, urn: string): void {
    if (this.#warnedOf.has(matter)) return;
    this.#warnedOf.add(matter);
    this.around.messages.warning(`${text}. Others of this run may be like it`, urn);
  }

  /** What ends one operation: Ctrl-C, or its time-out. */
  operation(seconds: number): { signal: AbortSignal; stop: () => void } {
    return deadline(this.around.clock, seconds, this.canceled());
  }

  /** Aborted a little after `ending` is. `stop` frees the timer. */
  grace(ending: AbortSignal): { signal: AbortSignal; stop: () => void } {
    const controller = new AbortController();
    const stopper = new AbortController();
    const start = () => {
      this.around.clock.sleep(graceMs, stopper.signal).then(
        () => controller.abort(ending.reason),
        () => undefined,
      );
    };
    if (ending.aborted) start();
    else ending.addEventListener("abort", start, { once: true });
    const stop = () => {
      ending.removeEventListener("abort", start);
      stopper.abort(new Canceled());
    };
    return { signal: controller.signal, stop };
  }

  /** The engine goes, and every call was answered: it has the ids of all that was made (G1). */
  takeLeave(): void {
    for (const id of this.claimed) this.journal.answered(this.settings, id);
  }

  /** Where instances of this session live, as far as that is known without a request. */
  place(): Origin {
    const { baseUrl, tokenKind } = this.settings;
    return { baseUrl, tokenKind, tokenHash: tokenHash(this.settings) };
  }

  async #connect(): Promise<{ api: ComputeApi; origin: Origin }> {
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
      this.around.messages.warning(
        `the token could not be checked with the account call, and is used all the same: ${error.message}. If it is meant to be narrow, set compute:validateCredentials to false.`,
      );
      return { api, origin };
    }
  }

  async #createApi(): Promise<ComputeApi> {
    // Loaded at the first request: previews need none, and undici costs every start of the plugin.
    const createApi = this.around.createApi ?? (await import("./api/createClient.js")).createClient;
    const { messages, cleaner, clock, env } = this.around;
    const options: ClientOptions = {
      baseUrl: this.settings.baseUrl,
      token: this.settings.apiToken,
      requestTimeoutMs: this.settings.requestTimeoutMs,
      requestsPerMinute: this.settings.requestsPerMinute,
      ...(this.settings.destroyPath ? { destroyPath: this.settings.destroyPath } : {}),
      userAgent: `pulumi-compute/${metadata.version}`,
      clock,
      env,
      clean: (text) => cleaner.clean(text),
      random: Math.random,
      ...(env["COMPUTE_DEBUG"] === "1" ? { debug: (line: string) => messages.info(line) } : {}),
      onSlowedDown: ({ path, retryInMs }) =>
        messages.debug(`${path} answered 429; next request in ${Math.round(retryInMs / 1000)} s`),
    };
    try {
      return createApi(options);
    } catch (error) {
      // A proxy variable of the environment, say, that is no address.
      const why = error instanceof Error ? error.message : String(error);
      throw new OperationFailed(`the service can't be called with these settings: ${why}`);
    }
  }

  #cursorWarned = false;
  #warnOfCursor(why: string): void {
    if (this.#cursorWarned) return;
    this.#cursorWarned = true;
    this.around.messages.warning(cursorIgnored(this.settings.cursorParameter, why));
  }
}

/** The account's fields are not shown in the document: an `id` is used where there is one. */
export function accountId(account: unknown): string | undefined {
  const id =
    typeof account === "object" && account !== null && "id" in account ? account.id : undefined;
  // As it comes back from the state, which has no form for half a character.
  return typeof id === "string" && id !== "" ? id.toWellFormed() : undefined;
}
