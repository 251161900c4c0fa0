/** Fetches listings of the service's instances. Callers that ask at the same time share one (G7). */
import { raceAbort } from "../abort";
import type { InstanceStatus, ListItem } from "../api/contract";
import type { Clock } from "../clock";

/** The instances in one listing, and what it proves (section "List envelope" of the service's API document). */
export interface ListingContent {
  /** By id. */
  readonly items: ReadonlyMap<string, ListItem>;
  /** Whether every instance is listed. Only such a listing can prove that an instance is absent (G3). */
  readonly complete: boolean;
  /** How many items could not be read. Each of them may be any instance. */
  readonly unreadable: number;
  /** The statuses of which every instance is listed. Empty for a complete listing. */
  readonly completeStatuses: ReadonlySet<InstanceStatus>;
}

/** A listing, and when it was fetched. */
export interface Listing extends ListingContent {
  /** The mark (`ListingSource.mark`) of the listing's begin. */
  readonly beginMark: number;
  /** The clock time before the first request. */
  readonly begunAt: number;
  /** The clock time after the last response. */
  readonly endedAt: number;
}

/** Whether the listing shows every instance of these statuses, or of all statuses if the list is empty. */
export function isCompleteFor(
  { complete, completeStatuses }: Listing,
  statuses: readonly string[],
): boolean {
  const isListed = (status: string) => completeStatuses.has(status as InstanceStatus);
  return complete || (statuses.length > 0 && statuses.every(isListed));
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
  readonly #fetchListing: (signal: AbortSignal) => Promise<ListingContent>;
  readonly #clock: Clock;
  readonly #signal: () => AbortSignal;
  #lastMark = 0;
  #lastWrite = 0;
  #latest: Listing | undefined;
  #underWay: (Pick<Listing, "beginMark" | "begunAt"> & { listing: Promise<Listing> }) | undefined;

  /** `signal` is the session's: the end of one caller must not end a listing that other callers share. */
  constructor(
    fetchListing: (signal: AbortSignal) => Promise<ListingContent>,
    clock: Clock,
    signal: () => AbortSignal,
  ) {
    this.#fetchListing = fetchListing;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Returns the next mark: a number in the order of the session's writes and of the begins of its listings. */
  mark(): number {
    return ++this.#lastMark;
  }

  /** Marks the end of a write. Listings with a lower mark need not show the write. */
  markWrite(): number {
    this.#lastWrite = this.mark();
    return this.#lastWrite;
  }

  /** The newest listing, however old. Undefined before the first. */
  get latest(): Listing | undefined {
    return this.#latest;
  }

  /** The requirement of a Read and the like (G3). */
  get recent(): ListingRequirement {
    return this.noOlderThan(recentMs);
  }

  /** Requires that the listing began at most `ageMs` milliseconds ago, and after the session's last write. */
  noOlderThan(ageMs: number): ListingRequirement {
    return { after: this.#lastWrite, notBefore: this.#clock.now() - ageMs };
  }

  /**
   * Returns a listing that is as new as required. Waits until `notBefore` if that time is in the future.
   *
   * @throws the error of a failed listing, or the reason of `signal`
   */
  async get(required: ListingRequirement, signal: AbortSignal): Promise<Listing> {
    signal.throwIfAborted();
    const waitMs = (required.notBefore ?? 0) - this.#clock.now();
    if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
    for (;;) {
      if (this.#latest && isNewEnough(this.#latest, required)) return this.#latest;
      const current = this.#underWay;
      if (!current) return raceAbort(this.#begin(), signal);
      if (isNewEnough(current, required)) return raceAbort(current.listing, signal);
      // All callers that need a newer listing share the next one.
      const ended = current.listing.catch(() => undefined);
      await raceAbort(ended, signal);
    }
  }

  #begin(): Promise<Listing> {
    const beginMark = this.mark();
    const begunAt = this.#clock.now();
    const listing = this.#fetchListing(this.#signal())
      .then((content) => {
        this.#latest = { beginMark, begunAt, endedAt: this.#clock.now(), ...content };
        return this.#latest;
      })
      .finally(() => {
        this.#underWay = undefined;
      });
    this.#underWay = { beginMark, begunAt, listing };
    return listing;
  }
}

function isNewEnough(
  { beginMark, begunAt }: Pick<Listing, "beginMark" | "begunAt">,
  { after = 0, notBefore = -Infinity }: ListingRequirement,
): boolean {
  return beginMark > after && begunAt >= notBefore;
}
