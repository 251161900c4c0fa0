/** The session: a configured provider, or a command that calls the service, with what its operations share. */
import { afterChange, cursorWarning, settingName, type SettingPlaces } from "../advice";
import type { ComputeApi } from "../api/client";
import type { Page } from "../api/contract";
import type { Settings, SettingVariables } from "../config/settings";
import { ledgerFolder } from "../ledger/folder";
import { Ledger } from "../ledger/ledger";
import { collect, noCursor, pagesBy, usualCursor } from "../evidence/collect";
import { type CursorProblem, type IdSet, type Listing, ListingSource } from "../evidence/listing";
import type { ProviderContext } from "../context";
import { Engine } from "../engine";
import { Poller } from "../evidence/poller";
import { Connection } from "./connection";
import { KnownState, type Seen } from "./knownState";
import { Notices } from "./notices";
import { Operations, waits, type Operation } from "./operations";
import { RetainedInstances } from "./retainedInstances";

/** What identifies the run of a session. */
export interface SessionOptions extends Omit<SettingPlaces, "tokenFile"> {
  /** A random string. Empty for a command, which makes no instance. */
  sessionId: string;
  /**
   * The id of the provider resource: the same in every run of a stack until a `pulumi destroy` or an upgrade of the plugin, and
   * another one in each stack unless `pulumi state move` has copied it. Undefined if it is not known yet.
   */
  scope?: string | undefined;
  /** What the calls are about. A command gets no calls, and a person gives its settings as a program does. */
  engine: Engine;
  /** What the run says of several instances. By default, nothing is said yet. */
  notices?: Notices;
  /** As in `ClientOptions`. */
  patienceMs: number;
}

/** An outage of the service that a run outlives. */
export const runPatienceMs = 60_000;

/** A person waits for a command, and nothing shows what it waits for. */
const commandPatienceMs = 3500;

/** Returns what is known of the session of a command, which creates no instance of a stack. */
export function commandOptions(
  variables: SettingVariables,
  stack: string | undefined,
  patienceMs = commandPatienceMs,
): SessionOptions {
  return { sessionId: "", engine: new Engine({}, "program"), variables, stack, patienceMs };
}

/**
 * The settings, and what all operations with them share. A session begins with Configure (or a command), and ends with the
 * process, or when the next run begins in it. Sessions share only the ledger's folder.
 */
export class Session {
  readonly settings: Settings;
  readonly ctx: ProviderContext;
  readonly options: SessionOptions;
  readonly places: SettingPlaces;
  readonly notices: Notices;
  readonly operations: Operations;
  readonly connection: Connection;
  readonly listings: ListingSource;
  readonly poller: Poller;
  readonly ledger: Ledger;
  readonly engine: Engine;
  readonly state = new KnownState();
  readonly retained: RetainedInstances;
  /** The instances that the calls of this run have shown or made. */
  readonly ours: IdSet = {
    has: (id) => this.state.shown.has(id) || this.engine.ours.has(id),
  };
  /** Why a brief look has failed (`briefly`). Later brief looks are left out. */
  failedLook: Error | undefined;
  /** The parameter by which listings page. Undefined if there is none, or once it has proved useless. */
  #cursorParameter: string | undefined;
  /** Whether nobody has tried yet if the service pages by `usualCursor`. False if the setting names a cursor, or "none". */
  #isCursorOpen: boolean;

  constructor(
    settings: Settings,
    ctx: ProviderContext,
    canceled: () => AbortSignal,
    options: SessionOptions,
  ) {
    this.settings = settings;
    const { cursorParameter } = settings;
    this.#isCursorOpen = cursorParameter === undefined;
    this.#cursorParameter = cursorParameter === noCursor ? undefined : cursorParameter;
    this.ctx = ctx;
    this.options = options;
    this.places = { ...options, tokenFile: settings.apiTokenFile };
    const { engine } = options;
    this.engine = engine;
    // Each part is given the parts above it.
    this.notices = options.notices ?? new Notices(ctx);
    this.retained = new RetainedInstances(ctx, this.places);
    this.ledger = new Ledger({
      folder: engine.kind === "stateless" ? undefined : ledgerFolder(ctx.env),
      session: options.sessionId,
      warn: (text) => ctx.messages.warning(text),
      clock: ctx.clock,
      disk: ctx.disk,
      said: this.notices,
    });
    this.operations = new Operations(ctx, canceled);
    const { operations, places } = this;
    const { patienceMs } = options;
    this.connection = new Connection({ settings, ctx, canceled, operations, patienceMs, places });
    this.listings = new ListingSource(
      async (signal) => {
        const api = await this.connection.api();
        const cursorAfter = (first: Page) => this.#cursorAfter(api, first, signal);
        const listing = await collect(api, cursorAfter, signal);
        if (listing.cursorProblem) this.#noteCursorProblem(listing.cursorProblem);
        return listing;
      },
      ctx.clock,
      canceled,
      this.ours,
    );
    this.poller = new Poller({
      listings: this.listings,
      clock: ctx.clock,
      pollIntervalMs: settings.pollIntervalMs,
      requestsPerMinute: settings.requestsPerMinute,
    });
  }

  /**
   * Opens the connection, and returns a listing that is as new as required.
   *
   * @throws as `Connection.open`, and RequestError if a request fails
   */
  async list(operation: Operation, required = this.listings.recent()): Promise<Listing> {
    await this.connection.open(operation);
    using _wait = operation.waiting(waits.listing);
    return await this.listings.get(required, operation.signal);
  }

  /** The id of the session, which is the stamp of the instances that it creates, takes over or looks up. */
  get id(): string {
    return this.options.sessionId;
  }

  /**
   * Returns the clock time (`Clock.now`) from which every listing shows the instance of a POST: when the settling time
   * (`compute:settlingSeconds`) after `postedAt` has passed. An invalid date counts as now.
   *
   * @param postedAt when the POST was sent or accepted (ISO 8601)
   */
  settledBy(postedAt: string): number {
    const { clock } = this.ctx;
    // Even if the wall clock was set back since then, the wait is not longer than the settling time.
    const age = Math.max(0, clock.date().getTime() - Date.parse(postedAt));
    return clock.now() + this.settings.settlingMs - (Number.isFinite(age) ? age : 0);
  }

  /**
   * Notes the instance of a call. If a state is proven to have held it, nothing about its create is in doubt any more. Returns
   * whether that also takes a listing.
   */
  noteShown(seen: Seen): boolean {
    this.state.noteShown(seen);
    return this.ledger.noteShown(seen);
  }

  /** What messages call the address of this run. */
  get addressName(): string {
    return settingName("baseUrl", this.places);
  }

  /** The cursor parameter with which this session lists. Undefined if there is none, or once it has proved useless. */
  get cursorParameter(): string | undefined {
    return this.#cursorParameter;
  }

  /** Returns the parameter by which a listing pages on after its first page. Without the setting, the usual one is tried once. */
  async #cursorAfter(
    api: ComputeApi,
    first: Page,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (this.#isCursorOpen) {
      this.#isCursorOpen = false;
      if (await pagesBy(api, usualCursor, first, signal)) this.#cursorParameter = usualCursor;
    }
    return this.#cursorParameter;
  }

  /** Gives the cursor up if it is useless: each listing would be up to 500 requests that prove nothing. */
  #noteCursorProblem(problem: CursorProblem): void {
    const { cursorParameter } = this.settings;
    if (problem.isLasting) this.#cursorParameter = undefined;
    // Of one that nobody has named, only what needs it says that it is not enough (`whyIncomplete`).
    if (cursorParameter === undefined) return;
    if (!problem.isLasting && !this.notices.markSaid("cursor")) return;
    const then = afterChange("cursorParameter", this.places);
    this.ctx.messages.warning(cursorWarning(cursorParameter, problem, then));
  }

  /** Releases the lock in the ledger, and closes the connections. */
  async close(): Promise<void> {
    await this.ledger.close();
    await this.connection.close();
  }
}
