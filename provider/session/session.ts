import { deadline, type Ending } from "../abort";
import { cursorIgnored } from "../advice";
import type { Settings } from "../config/settings";
import { ledgerFolder } from "../ledger/folder";
import { Ledger } from "../ledger/ledger";
import { collect } from "../listing/collect";
import { ListingSource } from "../listing/listing";
import type { ProviderContext } from "../context";
import { Poller } from "../wait/poller";
import { CreateSlots } from "../wait/createSlots";
import { Connection } from "./connection";
import { Creates } from "./creates";
import { KnownState } from "./knownState";
import { Notices } from "./notices";

/** Whose run a session is, as Configure tells. */
export interface Owner {
  /** The session's random id. */
  session: string;
  /** The provider resource's own id. */
  scope: string | undefined;
  /** Whether the run is `pulumi do --stateless`: all its creates share a URN and nothing else. */
  stateless: boolean;
  /** The URN of the program's own provider resource; undefined: the default one. */
  provider: string | undefined;
}

/** The owner of a command's session, which creates nothing. */
const byHand: Owner = {
  session: "by-hand",
  scope: undefined,
  stateless: false,
  provider: undefined,
};

/** Default time-outs, in seconds: of an operation that changes something, and of one that only looks. */
export const timeouts = { change: 15 * 60, look: 5 * 60 } as const;

/**
 * A configured provider, from the engine's Handshake or Attach to its last Cancel: the settings, and what
 * all operations share. Two sessions share only the ledger on the disk.
 */
export class Session {
  readonly settings: Settings;
  readonly ctx: ProviderContext;
  readonly owner: Owner;
  /** Aborted by Cancel; another one after each Handshake. */
  readonly canceled: () => AbortSignal;
  readonly connection: Connection;
  readonly listings: ListingSource;
  readonly poller: Poller;
  readonly createSlots: CreateSlots;
  readonly ledger: Ledger;
  readonly creates: Creates;
  readonly state: KnownState;
  readonly notices: Notices;
  /** Whether there is an engine to take the answers. */
  hasEngine = true;
  /** What has been warned of. */
  readonly #warnings = new Set<string>();

  constructor(
    settings: Settings,
    ctx: ProviderContext,
    canceled: () => AbortSignal,
    owner: Owner = byHand,
  ) {
    this.settings = settings;
    this.ctx = ctx;
    this.canceled = canceled;
    this.owner = owner;
    this.connection = new Connection(settings, ctx, canceled);
    this.listings = new ListingSource(
      async (signal) => {
        const { api } = await this.connection.open(signal);
        return collect(
          api,
          {
            cursorParameter: settings.cursorParameter,
            onCursorFailed: (why) => {
              if (!this.#isFirstOf("cursor")) return;
              ctx.messages.warning(cursorIgnored(settings.cursorParameter, why));
            },
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

  /** A random id, in the stamp of the instances that this session creates. */
  get id(): string {
    return this.owner.session;
  }

  /** The URN of the program's own provider resource; undefined: the default one. */
  get provider(): string | undefined {
    return this.owner.provider;
  }

  /**
   * When every listing has an instance that was posted at this date (ISO 8601): milliseconds on the scale of
   * `Clock.now`.
   */
  settledBy(postedAt: string): number {
    const { clock } = this.ctx;
    // A wall clock that was set back does not make the wait longer than the settling time.
    const age = Math.max(0, clock.date().getTime() - Date.parse(postedAt));
    return clock.now() + this.settings.settlingMs - (Number.isFinite(age) ? age : 0);
  }

  /** A warning that may hold for many instances alike, said of the first one only. */
  warnOnce(subject: string, text: string, urn: string): void {
    if (!this.#isFirstOf(subject)) return;
    this.ctx.messages.warning(`${text}. Others of this run may be like it`, urn);
  }

  /** The signal that ends one operation: Ctrl-C, or its time-out. */
  operation(seconds: number): Ending {
    return deadline(this.ctx.clock, seconds, this.canceled());
  }

  /** Ends the session in the ledger, whose lock is then free, and closes the connections. */
  async close(): Promise<void> {
    await this.ledger.close();
    await this.connection.close();
  }

  #isFirstOf(subject: string): boolean {
    const isFirst = !this.#warnings.has(subject);
    this.#warnings.add(subject);
    return isFirst;
  }
}
