/**
 * The session: a configured provider, with what its operations share. `provider.ts` makes one at Configure, and
 * each command of the plugin that calls the service makes one of its own.
 */
import { deadline, type Ending } from "../abort";
import { cursorIgnored, recordedSettingsAdvice } from "../advice";
import type { Settings } from "../config/settings";
import { ledgerFolder } from "../ledger/folder";
import { Ledger } from "../ledger/ledger";
import { collect } from "../listing/collect";
import { ListingSource } from "../listing/listing";
import type { ProviderContext } from "../context";
import { Poller } from "../wait/poller";
import { Connection } from "./connection";
import { Creates, CreateSlots } from "./creates";
import { KnownState } from "./knownState";
import { LeftoverNotices } from "./leftoverNotices";

/** What identifies the run of a session. `provider.ts` makes a `SessionRun` when Configure is called. */
export interface SessionRun {
  /** The id of the session: a random string, or a fixed one for a command. */
  sessionId: string;
  /**
   * The id of the provider resource. It is the same in every run of a stack and different in each stack. Undefined if it
   * is not known yet.
   */
  scope: string | undefined;
  /**
   * Whether `pulumi do` calls the provider without a stack. It does so with `--stateless`, and always for a list, a read
   * or a function. Creates with `--stateless` all have one URN, but are unrelated.
   */
  stateless: boolean;
  /** The URN of the explicit provider resource. Undefined for a default provider. */
  providerUrn: string | undefined;
  /**
   * Whether the settings are those that the last `pulumi up` recorded in the state, as in a refresh or destroy without
   * `--run-program`. False if the program ran.
   */
  hasRecordedSettings: boolean;
}

/** The `SessionRun` of a command, which never creates an instance. */
const commandRun: SessionRun = {
  sessionId: "by-hand",
  scope: undefined,
  stateless: false,
  providerUrn: undefined,
  hasRecordedSettings: false,
};

/**
 * The default time-outs in seconds: `change` for operations that change an instance, and `look` for those that only
 * read.
 */
export const timeouts = { change: 15 * 60, look: 5 * 60 } as const;

/**
 * The settings of a configured provider, and what all its operations share. A session begins with Configure (or with a
 * command). It ends with the process, or when another engine connects after a Cancel. Sessions share only the ledger on
 * the disk, which records the pending creates.
 */
export class Session {
  readonly settings: Settings;
  readonly ctx: ProviderContext;
  /** What identifies the run that this session belongs to. */
  readonly run: SessionRun;
  /** Returns the signal that Cancel aborts. */
  readonly canceled: () => AbortSignal;
  readonly connection: Connection;
  /** Fetches the listings that all operations share. */
  readonly listings: ListingSource;
  /** Waits until instances are ready. */
  readonly poller: Poller;
  /** Limits how many creates run at a time. */
  readonly createSlots: CreateSlots;
  readonly ledger: Ledger;
  /** What the session knows of its own creates. */
  readonly creates: Creates;
  /** What is known about Pulumi's state. */
  readonly state: KnownState;
  /** The notices about leftovers: instances that earlier creates of a resource may have left. */
  readonly leftoverNotices: LeftoverNotices;
  /** Whether there still is an engine that receives the replies. `Provider.cancel` sets this to false if the engine is gone. */
  hasEngine = true;
  /** The subjects of the messages that must not be repeated. */
  readonly #reportedSubjects = new Set<string>();

  constructor(
    settings: Settings,
    ctx: ProviderContext,
    canceled: () => AbortSignal,
    run: SessionRun = commandRun,
  ) {
    this.settings = settings;
    this.ctx = ctx;
    this.canceled = canceled;
    this.run = run;
    this.connection = new Connection(
      settings,
      ctx,
      canceled,
      (id) => this.creates.has(id) || this.listings.latest?.items.has(id) === true,
    );
    this.listings = new ListingSource(
      async (signal) => {
        const { api } = await this.connection.open(signal);
        const options = {
          cursorParameter: settings.cursorParameter,
          onCursorFailed: (why: string) => {
            if (!this.isFirst("cursor")) return;
            ctx.messages.warning(cursorIgnored(settings.cursorParameter, why));
          },
        };
        return collect(api, options, signal);
      },
      ctx.clock,
      canceled,
    );
    this.poller = new Poller(
      this.listings,
      ctx.clock,
      settings.pollIntervalMs,
      settings.requestsPerMinute,
    );
    this.ledger = new Ledger(
      ledgerFolder(ctx.env),
      run.sessionId,
      (text) => ctx.messages.warning(text),
      ctx.clock,
      ctx.disk,
    );
    this.creates = new Creates(this.listings);
    this.leftoverNotices = new LeftoverNotices(ctx, settings.tokenKind);
    this.createSlots = new CreateSlots({ hasCursor: settings.cursorParameter !== undefined });
    this.state = new KnownState(this.ledger, settings, this.id);
  }

  /** The id of the session. The outputs of the instances that it creates, takes over or imports have it as their stamp. */
  get id(): string {
    return this.run.sessionId;
  }

  /** The URN of the explicit provider resource. Undefined for a default provider. */
  get providerUrn(): string | undefined {
    return this.run.providerUrn;
  }

  /**
   * Returns the clock time (`Clock.now`) at which the settling time (`compute:settlingSeconds`) of a POST has passed. From
   * then on, every listing shows the instance of that POST. `postedAt` is when the POST was sent or accepted (a date in
   * ISO 8601). An invalid date counts as now.
   */
  settledBy(postedAt: string): number {
    const { clock } = this.ctx;
    // Even if the wall clock was set back since then, the wait is not longer than the settling time.
    const age = Math.max(0, clock.date().getTime() - Date.parse(postedAt));
    return clock.now() + this.settings.settlingMs - (Number.isFinite(age) ? age : 0);
  }

  /** Returns true for the first call with this subject, and then false, so that a message is printed once in a session. */
  isFirst(subject: string): boolean {
    const isFirst = !this.#reportedSubjects.has(subject);
    this.#reportedSubjects.add(subject);
    return isFirst;
  }

  /** Whether the settings are recorded ones, and no program has asked for an instance with them, as in `up --refresh`. */
  get hasRecordedSettings(): boolean {
    return this.run.hasRecordedSettings && !this.state.hasUpdates;
  }

  /** Prints a warning, once for each subject. The warning adds that the text may be true of other instances too. */
  warnOnce(subject: string, text: string, urn: string): void {
    if (!this.isFirst(subject)) return;
    const advice = this.hasRecordedSettings ? `. ${recordedSettingsAdvice}` : "";
    const notice = `${text}. The same may be true of other instances of this run${advice}`;
    this.ctx.messages.warning(notice, urn);
  }

  /** Returns the signal of an operation. The signal is aborted by a cancel, or after this time-out. */
  operation(seconds: number): Ending {
    return deadline(this.ctx.clock, seconds, this.canceled());
  }

  /** Ends the session: releases its lock in the ledger, and closes its connections. */
  async close(): Promise<void> {
    await this.ledger.close();
    await this.connection.close();
  }
}
