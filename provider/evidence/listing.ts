/** Fetches listings of the service's instances. Callers that ask at the same time share one (G7). */
import { raceAbort } from "../abort";
import type { ListItem } from "../api/contract";
import type { Clock } from "../clock";

/** The instances in one listing, and what it proves (section "List envelope" of the service's API document). */
export interface FetchedListing {
  /** By id. */
  readonly items: ReadonlyMap<string, ListItem>;
  /** Whether every instance is listed. Only such a listing can prove that an instance is absent (G3). */
  readonly complete: boolean;
  /** How many items could not be read. Each of them may be any instance. */
  readonly unreadable: number;
  /** The statuses of which every instance is listed. Empty for a complete listing. */
  readonly completeStatuses: ReadonlySet<string>;
  /** Set if the pages of the cursor (`compute:cursorParameter`) did not list everything. */
  readonly cursorProblem?: CursorProblem | undefined;
}

/** Why the pages of a cursor did not list everything. */
export interface CursorProblem {
  /** A phrase such as "a page repeated instances of an earlier page". */
  readonly why: string;
  /** Whether the list did not end, or began anew. Then further listings by this cursor would only waste requests. */
  readonly isLasting: boolean;
}

/** The part of a listing from which a witness judges (`witness.ts`). */
export interface Evidence extends FetchedListing {
  /** The clock time before the first request. */
  readonly begunAt: number;
  /** The clock time after the last response. */
  readonly endedAt: number;
}

/** When a listing began. */
interface Begin {
  /** The mark (`ListingSource.mark`) of the begin. */
  readonly beginMark: number;
  /** As in `Evidence`. */
  readonly begunAt: number;
}

/** A listing, and when it was fetched. */
export interface Listing extends Evidence, Begin {}

/** Whether the listing shows every instance of these statuses, or of all statuses if the list is empty. */
export function isCompleteFor(listing: Listing, statuses: readonly string[]): boolean {
  const { complete, completeStatuses } = listing;
  return (
    complete || (statuses.length > 0 && statuses.every((status) => completeStatuses.has(status)))
  );
}

/** Tells whether an id is one of some. */
export interface IdSet {
  has(id: string): boolean;
}

/** Whether a listing shows one of these instances. */
export function shows({ items }: FetchedListing, ids: IdSet): boolean {
  return [...items.keys()].some((id) => ids.has(id));
}

/** How new a listing has to be. */
export interface ListingRequirement {
  /** The listing has to begin after this mark (`ListingSource.mark`). */
  after?: number;
  /** The listing has to begin at this clock time or later. */
  notBefore?: number;
}

/** The age, in milliseconds, of the oldest listing that a Read, a function or a create's first baseline uses. */
export const recentMs = 2000;

/** Fetches the listings of a session. Callers share a listing that is under way, or that has just ended. */
export class ListingSource {
  readonly #fetchListing: (signal: AbortSignal) => Promise<FetchedListing>;
  readonly #clock: Clock;
  readonly #sessionSignal: () => AbortSignal;
  readonly #ours: IdSet;
  #lastMark = 0;
  #lastWrite = 0;
  #first: Listing | undefined;
  #latest: Listing | undefined;
  /** The listing before the newest one. */
  #previous: Listing | undefined;
  /** The earliest listing that has all instances that later ones show. */
  #withoutOurs: Listing | undefined;
  #underWay: (Begin & { listing: Promise<Listing> }) | undefined;

  /**
   * `sessionSignal` ends listings: the end of one caller must not end a listing that other callers share. `ours`: the instances that
   * the calls of the run have shown or made.
   */
  constructor(
    fetchListing: (signal: AbortSignal) => Promise<FetchedListing>,
    clock: Clock,
    sessionSignal: () => AbortSignal,
    ours: IdSet,
  ) {
    this.#fetchListing = fetchListing;
    this.#clock = clock;
    this.#sessionSignal = sessionSignal;
    this.#ours = ours;
  }

  /** Returns the next mark: a number in the order of the session's writes and of the begins of its listings. */
  mark(): number {
    return ++this.#lastMark;
  }

  /** Marks the end of a write. Listings with a lower mark need not show the write. */
  markWrite(): number {
    return (this.#lastWrite = this.mark());
  }

  /** The session's first listing, which began before all its POSTs. */
  get first(): Listing | undefined {
    return this.#first;
  }

  /** The newest listing, however old. Undefined before the first. */
  get latest(): Listing | undefined {
    return this.#latest;
  }

  /** The earliest listing that has all instances of later ones, if it shows none of ours: then none of these shows one of ours either. */
  get withoutOurs(): Listing | undefined {
    const first = this.#withoutOurs;
    return first && !shows(first, this.#ours) ? first : undefined;
  }

  /** The listing right before the newest one, if it began after the session's last write (G3). */
  get previous(): Listing | undefined {
    return (this.#previous?.beginMark ?? 0) > this.#lastWrite ? this.#previous : undefined;
  }

  /** Requires that the listing began at most `recentMs` milliseconds ago, and after the session's last write (G3). */
  recent(): ListingRequirement {
    return { after: this.#lastWrite, notBefore: this.#clock.now() - recentMs };
  }

  /**
   * Returns a listing that is as new as required. Waits until `notBefore` if that time is in the future.
   *
   * @throws the error of a failed listing, or the reason of `signal`
   */
  async get(
    { after = 0, notBefore = -Infinity }: ListingRequirement,
    signal: AbortSignal,
  ): Promise<Listing> {
    const isNewEnough = (listing: Begin) =>
      listing.beginMark > after && listing.begunAt >= notBefore;
    signal.throwIfAborted();
    if (this.#latest && isNewEnough(this.#latest)) return this.#latest;
    const waitMs = notBefore - this.#clock.now();
    if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
    for (;;) {
      if (this.#latest && isNewEnough(this.#latest)) return this.#latest;
      const underWay = (this.#underWay ??= this.#beginListing());
      if (isNewEnough(underWay)) return await raceAbort(underWay.listing, signal);
      // All callers that need a newer listing share the next one.
      const ended = underWay.listing.catch(() => undefined);
      await raceAbort(ended, signal);
    }
  }

  #beginListing() {
    const begin: Begin = { beginMark: this.mark(), begunAt: this.#clock.now() };
    const listing = this.#fetchListing(this.#sessionSignal())
      .then((content) => {
        const listing = { ...begin, endedAt: this.#clock.now(), ...content };
        this.#first ??= listing;
        const { withoutOurs = listing } = this;
        const hasMore = [...listing.items.keys()].some((id) => !withoutOurs.items.has(id));
        this.#withoutOurs = hasMore ? listing : withoutOurs;
        this.#previous = this.#latest;
        return (this.#latest = listing);
      })
      .finally(() => (this.#underWay = undefined));
    return { ...begin, listing };
  }
}
