/** Listings of the service's instances, and the source that shares one among all who ask at a time (G7). */
import { raceAbort } from "../abort";
import type { InstanceStatus, ListItem } from "../api/contract";
import type { Clock } from "../clock";

/** The instances that one round of requests showed, and what that proves ("List envelope"). */
export interface ListingContent {
  /** By id. */
  readonly items: ReadonlyMap<string, ListItem>;
  /** Unfiltered and without a gap: only such a listing can prove that an instance is absent (G3). */
  readonly complete: boolean;
  /** How many items could not be read; each may be any instance. */
  readonly unreadable: number;
  /** The statuses of which every instance is listed. */
  readonly completeStatuses: ReadonlySet<InstanceStatus>;
}

/** What the service shows in one round of requests. */
export interface Listing extends ListingContent {
  /** Where it began in the order of this process's listings and writes (`ListingSource.mark`). */
  readonly begun: number;
  /** Clock time at which its first request was begun. */
  readonly begunAt: number;
  /** Clock time at which its last request was answered. */
  readonly endedAt: number;
}

/** Whether the listing shows every instance of these statuses; of all statuses where none is given. */
export function isCompleteFor(
  { complete, completeStatuses }: Listing,
  statuses: readonly string[],
): boolean {
  const isListed = (status: string) => completeStatuses.has(status as InstanceStatus);
  return complete || (statuses.length > 0 && statuses.every(isListed));
}

/** How new a listing has to be. */
export interface ListingRequirement {
  /** Begun after this mark (`ListingSource.mark`). */
  after?: number;
  /** Begun at this clock time or later. */
  notBefore?: number;
}

/** How old a listing may be that answers a Read or is a create's baseline. */
export const recentMs = 2000;

/** Takes listings for a session. Who asks while one is under way, or soon after, is given the same one. */
export class ListingSource {
  readonly #take: (signal: AbortSignal) => Promise<ListingContent>;
  readonly #clock: Clock;
  readonly #signal: () => AbortSignal;
  #lastMark = 0;
  #lastWrite = 0;
  #latest: Listing | undefined;
  #underWay: (Pick<Listing, "begun" | "begunAt"> & { listing: Promise<Listing> }) | undefined;

  /**
   * @param take takes one listing
   * @param signal gives what ends a listing. It ends with the session: a listing is shared, so the end of
   *   one caller must not end it.
   */
  constructor(
    take: (signal: AbortSignal) => Promise<ListingContent>,
    clock: Clock,
    signal: () => AbortSignal,
  ) {
    this.#take = take;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** The next number in the order of this process's listings and writes. */
  mark(): number {
    return ++this.#lastMark;
  }

  /** Marks a write that has ended, or whose outcome is open. Listings begun earlier may not show it. */
  markWrite(): number {
    this.#lastWrite = this.mark();
    return this.#lastWrite;
  }

  /** The newest listing, however old. */
  get latest(): Listing | undefined {
    return this.#latest;
  }

  /** What a Read needs: at most `recentMs` old, and begun after this process's last write (G3). */
  get recent(): ListingRequirement {
    return { after: this.#lastWrite, notBefore: this.#clock.now() - recentMs };
  }

  /**
   * A listing that is as new as required. Waits until `notBefore`, if that is in the future.
   *
   * @throws whatever the listing throws, and the reason of `signal`
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
      // All who need a newer one share the listing that follows.
      const ended = current.listing.catch(() => undefined);
      await raceAbort(ended, signal);
    }
  }

  #begin(): Promise<Listing> {
    const begun = this.mark();
    const begunAt = this.#clock.now();
    const listing = this.#take(this.#signal())
      .then((content) => {
        this.#latest = { begun, begunAt, endedAt: this.#clock.now(), ...content };
        return this.#latest;
      })
      .finally(() => {
        this.#underWay = undefined;
      });
    this.#underWay = { begun, begunAt, listing };
    return listing;
  }
}

function isNewEnough(
  { begun, begunAt }: Pick<Listing, "begun" | "begunAt">,
  { after = 0, notBefore = -Infinity }: ListingRequirement,
): boolean {
  return begun > after && begunAt >= notBefore;
}
