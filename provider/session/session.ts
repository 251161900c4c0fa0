/**
 * The provider once it is configured: the settings in force, and all that the operations of one session
 * share. Two sessions share nothing but the ledger on the disk.
 */
import { deadline, type Ending } from "../abort";
import { cursorIgnored } from "../advice";
import type { Settings } from "../config/settings";
import { ledgerFolder } from "../ledger/folder";
import { Ledger } from "../ledger/ledger";
import { collect } from "../listing/collect";
import { ListingSource } from "../listing/listing";
import { Notices } from "../instance/notices";
import type { ProviderContext } from "../context";
import { Poller } from "../wait/poller";
import { CreateSlots } from "../wait/createSlots";
import { Connection } from "./connection";
import { Creates } from "./creates";
import { KnownState } from "./knownState";

/** Whose run a session is, as Configure tells. */
export interface Owner {
  /** From Handshake or Attach to the last Cancel; a random id. */
  session: string;
  /** The provider resource's own id. */
  scope: string | undefined;
  /** `pulumi do --stateless`: all creates share a URN and nothing else. */
  stateless: boolean;
  /** The URN of the program's own provider resource; undefined: the default one. */
  provider: string | undefined;
}

/** The owner where a command has a session: it creates nothing. */
const byHand: Owner = {
  session: "by-hand",
  scope: undefined,
  stateless: false,
  provider: undefined,
};

/**
 * How long an operation may take, in seconds, where `customTimeouts` says nothing: one that changes
 * something, and one that only looks.
 */
export const timeouts = { change: 15 * 60, look: 5 * 60 } as const;

export class Session {
  readonly connection: Connection;
  readonly listings: ListingSource;
  readonly poller: Poller;
  readonly createSlots: CreateSlots;
  readonly ledger: Ledger;
  readonly creates: Creates;
  /** What the calls of this session have told of the state. */
  readonly state: KnownState;
  readonly notices: Notices;

  readonly #warnedOf = new Set<string>();
  #isHeard = true;

  constructor(
    readonly settings: Settings,
    readonly ctx: ProviderContext,
    /** Aborted by Cancel; a new one after each Handshake. */
    readonly canceled: () => AbortSignal,
    readonly owner: Owner = byHand,
  ) {
    this.connection = new Connection(settings, ctx, canceled);
    this.listings = new ListingSource(
      async (signal) => {
        const { api } = await this.connection.open(signal);
        return collect(
          api,
          {
            cursorParameter: settings.cursorParameter,
            onCursorIgnored: (why) => this.#warnOfCursor(why),
          },
          signal,
        );
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
      owner.session,
      (text) => ctx.messages.warning(text),
      ctx.clock,
      ctx.disk,
    );
    this.creates = new Creates(this.listings);
    this.notices = new Notices(ctx, settings.tokenKind);
    this.createSlots = new CreateSlots({ hasCursor: settings.cursorParameter !== undefined });
    this.state = new KnownState(this.ledger, settings, this.id);
  }

  get id(): string {
    return this.owner.session;
  }

  /** The URN of the program's own provider resource, for the commands that name it. */
  get provider(): string | undefined {
    return this.owner.provider;
  }

  /** Whether there is an engine that is given the answers. */
  get isHeard(): boolean {
    return this.#isHeard;
  }

  /** The engine is gone: no answer is heard any more. */
  abandon(): void {
    this.#isHeard = false;
  }

  /** Clock time by which an instance of a POST at that date (ISO 8601) is in every listing. */
  settledBy(at: string): number {
    const { clock } = this.ctx;
    // A wall clock that was set back makes nothing longer than the settling time.
    const age = Math.max(0, clock.date().getTime() - Date.parse(at));
    return clock.now() + this.settings.settlingMs - (Number.isFinite(age) ? age : 0);
  }

  /** What the service's own limits do to many instances alike is said of the first one only. */
  warnOnce(matter: string, text: string, urn: string): void {
    if (this.#warnedOf.has(matter)) return;
    this.#warnedOf.add(matter);
    this.ctx.messages.warning(`${text}. Others of this run may be like it`, urn);
  }

  /** What ends one operation: Ctrl-C, or its time-out. */
  operation(seconds: number): Ending {
    return deadline(this.ctx.clock, seconds, this.canceled());
  }

  /** Ends the session in the ledger, whose lock is then free, and closes the connections. */
  async close(): Promise<void> {
    await this.ledger.close();
    await this.connection.close();
  }

  #cursorWarned = false;
  #warnOfCursor(why: string): void {
    if (this.#cursorWarned) return;
    this.#cursorWarned = true;
    this.ctx.messages.warning(cursorIgnored(this.settings.cursorParameter, why));
  }
}
