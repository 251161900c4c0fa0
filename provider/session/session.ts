/**
 * The provider once it is configured: the settings in force and everything that the operations of
 * one process share. Two sessions know nothing of each other.
 */
import { deadline, type Ending } from "../abort";
import { cursorIgnored } from "../advice";
import type { Settings } from "../config/settings";
import { journalFolder } from "../journal/folder";
import { Journal } from "../journal/journal";
import { collect } from "../listing/collect";
import { Listings } from "../listing/listings";
import type { Surroundings } from "../surroundings";
import { Poller } from "../wait/poller";
import { Room } from "../wait/room";
import { Connection } from "./connection";
import { Creates } from "./creates";
import { KnownState } from "./knownState";

/**
 * How long an operation may take, in seconds, where `customTimeouts` says nothing: one that changes
 * something, and one that only looks.
 */
export const timeouts = { change: 15 * 60, look: 5 * 60 } as const;

export class Session {
  readonly connection: Connection;
  readonly listings: Listings;
  readonly poller: Poller;
  readonly room: Room;
  readonly journal: Journal;
  readonly creates: Creates;
  /** What the state holds, as far as the calls of this process tell. */
  readonly state: KnownState;

  readonly #warnedOf = new Set<string>();

  constructor(
    readonly settings: Settings,
    readonly around: Surroundings,
    /** Aborted by Cancel; a new one after each Handshake. */
    readonly canceled: () => AbortSignal,
    /** The URN of the program's own provider resource; undefined: the default one. */
    readonly provider?: string | undefined,
  ) {
    this.connection = new Connection(settings, around, canceled);
    this.listings = new Listings(
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
      around.clock,
      canceled,
    );
    this.poller = new Poller(this.listings, around.clock, settings.pollIntervalMs);
    this.journal = new Journal(journalFolder(around.env), (text) => around.messages.warning(text));
    this.creates = new Creates(this.listings, this.journal, settings);
    this.room = new Room({
      clock: around.clock,
      pollIntervalMs: settings.pollIntervalMs,
      hasCursor: settings.cursorParameter !== undefined,
      isOurs: (id) => this.creates.has(id),
    });
    this.state = new KnownState(this.journal, settings);
  }

  /** Clock time by which an instance of a POST at that date (ISO 8601) is in every listing. */
  settledBy(at: string): number {
    const { clock } = this.around;
    // A wall clock that was set back makes nothing longer than the settling time.
    const age = Math.max(0, clock.date().getTime() - Date.parse(at));
    return clock.now() + this.settings.settlingMs - (Number.isFinite(age) ? age : 0);
  }

  /** What the service's own limits do to many instances alike is said of the first one only. */
  warnOnce(matter: string, text: string, urn: string): void {
    if (this.#warnedOf.has(matter)) return;
    this.#warnedOf.add(matter);
    this.around.messages.warning(`${text}. Others of this run may be like it`, urn);
  }

  /** What ends one operation: Ctrl-C, or its time-out. */
  operation(seconds: number): Ending {
    return deadline(this.around.clock, seconds, this.canceled());
  }

  #cursorWarned = false;
  #warnOfCursor(why: string): void {
    if (this.#cursorWarned) return;
    this.#cursorWarned = true;
    this.around.messages.warning(cursorIgnored(this.settings.cursorParameter, why));
  }
}
