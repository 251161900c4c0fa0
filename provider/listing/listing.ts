/**
 * The listings of one configured provider, shared by everything that looks (G7): those who ask at
 * about the same time get the same one, so their number costs nothing.
 */
import { raceAbort } from "../abort";
import type { InstanceStatus, ListItem } from "../api/contract";
import type { Clock } from "../clock";

/**
 * What the service listed at one moment. The list has no cursor that the document shows, so a
 * listing says of itself what it proves.
 */
export interface Listing {
  /** Place in the order of listings and writes of this process (see `Listings.mark`). */
  readonly begun: number;
  /** Clock time at which it was begun, and at which it was whole. */
  readonly begunAt: number;
  readonly endedAt: number;
  readonly items: ReadonlyMap<string, ListItem>;
  /** Unfiltered and whole: the only kind that can prove absence (G3). */
  readonly complete: boolean;
  /** Items that could not be read, each of which may be any instance. */
  readonly unreadable: number;
  /** The statuses whose own listing was whole. */
  readonly completeStatuses: ReadonlySet<InstanceStatus>;
}

/** Whether it shows every instance of these statuses; where none is named, every one. */
export function isCompleteFor(
  { complete, completeStatuses }: Listing,
  statuses: readonly string[],
): boolean {
  const whole: ReadonlySet<string> = completeStatuses;
  return complete || (statuses.length > 0 && statuses.every((status) => whole.has(status)));
}

export interface ListingRequirement {
  /** Begun after this mark (see `mark`). */
  after?: number;
  /** Begun no earlier than this clock time. */
  notBefore?: number;
}

/** How old a listing may be that answers a Read or serves as a baseline (nothing of ours written since). */
export const recentMs = 2000;

type Take = (signal: AbortSignal) => Promise<Omit<Listing, "begun" | "begunAt" | "endedAt">>;

export class ListingSource {
  #order = 0;
  #lastWrite = 0;
  #latest: Listing | undefined;
  #underWay: { begun: number; begunAt: number; listing: Promise<Listing> } | undefined;

  constructor(
    private readonly take: Take,
    private readonly clock: Clock,
    /** Ends with the process: a listing is shared, so no one caller's end may end it. */
    private readonly signal: () => AbortSignal,
  ) {}

  /** A point in the order of this process's listings and writes. */
  mark(): number {
    return ++this.#order;
  }

  /** A write of this process was settled, or is open: listings begun earlier do not know of it. */
  markWrite(): number {
    this.#lastWrite = this.mark();
    return this.#lastWrite;
  }

  /** The newest listing there is, of whatever age. */
  get latest(): Listing | undefined {
    return this.#latest;
  }

  /** What a Read needs: begun after this process's last write (G3), and fresh. */
  get recent(): ListingRequirement {
    return { after: this.#lastWrite, notBefore: this.clock.now() - recentMs };
  }

  async get(need: ListingRequirement, signal: AbortSignal): Promise<Listing> {
    signal.throwIfAborted();
    const wait = (need.notBefore ?? 0) - this.clock.now();
    if (wait > 0) await this.clock.sleep(wait, signal);
    for (;;) {
      if (this.#latest && meets(this.#latest, need)) return this.#latest;
      const running = this.#underWay;
      if (!running) return raceAbort(this.#begin(), signal);
      if (meets(running, need)) return raceAbort(running.listing, signal);
      // Too old to serve; those who wait for its end share the one after it.
      await raceAbort(
        running.listing.catch(() => undefined),
        signal,
      );
    }
  }

  #begin(): Promise<Listing> {
    const begun = this.mark();
    const begunAt = this.clock.now();
    const listing = this.take(this.signal())
      .then((findings) => {
        this.#latest = { begun, begunAt, endedAt: this.clock.now(), ...findings };
        return this.#latest;
      })
      .finally(() => {
        this.#underWay = undefined;
      });
    this.#underWay = { begun, begunAt, listing };
    return listing;
  }
}

function meets(listing: { begun: number; begunAt: number }, need: ListingRequirement): boolean {
  return listing.begun > (need.after ?? 0) && listing.begunAt >= (need.notBefore ?? -Infinity);
}
