/**
 * The provider once it is configured: the settings in force and everything that the operations of
 * one process share. Two sessions know nothing of each other.
 */
import { Canceled, deadline } from "./abort";
import { cursorIgnored } from "./advice";
import type { Settings } from "./config/settings";
import { Connection } from "./connection";
import { journalFolder } from "./journal/folder";
import { Journal } from "./journal/journal";
import { KnownState } from "./knownState";
import { collect } from "./listing/collect";
import { Listings } from "./listing/listings";
import { KeyedLocks } from "./locks";
import type { Surroundings } from "./surroundings";
import { Poller } from "./wait/poller";
import { Room } from "./wait/room";

/** How long a POST under way may go on to bring its id back after Ctrl-C or a time-out (G1). */
const graceMs = 10_000;

export class Session {
  readonly connection: Connection;
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
    this.room = new Room({
      clock: around.clock,
      pollIntervalMs: settings.pollIntervalMs,
      hasCursor: settings.cursorParameter !== undefined,
      claimed: this.claimed,
    });
    this.journal = new Journal(journalFolder(around.env), (text) => around.messages.warning(text));
    this.state = new KnownState(this.journal, settings);
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

  #cursorWarned = false;
  #warnOfCursor(why: string): void {
    if (this.#cursorWarned) return;
    this.#cursorWarned = true;
    this.around.messages.warning(cursorIgnored(this.settings.cursorParameter, why));
  }
}
