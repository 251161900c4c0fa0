/** Waits for instances until their status changes. Each look fetches one listing, which all waits of the session share (G7). */
import { notNeeded, raceAbort } from "../abort";
import { instanceStatuses, pageLimit } from "../api/serviceConstants";
import { RequestError } from "../api/requestError";
import type { Clock } from "../clock";
import type { ListItem } from "../api/contract";
import type { Listing, ListingSource } from "./listing";
import { see, witnessOf, type Known, type Question, type Witness } from "./witness";

/** How the wait for an instance ended. */
export type WaitEnd =
  /** As the wait's `onListed` said. */
  | "over"
  /** The instance has left PROVISIONING, but the list that should show it now is cut off. */
  | "cutOff"
  /** A listing has shown the instance, and later ones prove that it is gone (guarantee G3). */
  | "gone";

/**
 * What a wait does next: it ends, looks for a change, or only watches an instance that is expected to stay as it is. A wait that only
 * watches takes few looks of its own, but uses the looks of other waits, and fails as these waits do.
 */
export type Next = "end" | "look" | "watch";

/** A wait for an instance. */
export interface PollerWait {
  question: Question<{ id: string }>;
  /** The mark (`ListingSource.mark`) of the end of the POST. Listings with a lower mark are ignored. By default, every listing counts. */
  after?: number | undefined;
  /** The instance as a listing has shown it just now. */
  listed?: ListItem | undefined;
  signal: AbortSignal;
  /** As in `Asking` of `ask.ts`. */
  known: () => Known;
  /** Called after each look, unless its listing is ignored: with a transient error if it failed. */
  onLook: (problem: RequestError | undefined) => void;
  /** Called with the instance as it is listed, and with the time for which it has been listed with this status. */
  onListed: (item: ListItem, forMs: number) => Next;
}

/** How an instance that was waited for was last listed, by default as in the 202, and the clock time since when. */
interface StatusSince {
  readonly status: string;
  readonly since: number;
}

/** When the first looks are due after the start of a wait. An instance of a test token may be ready at once. */
const firstLooksMs: readonly number[] = [100, 300, 600];
/** The shortest pause between later looks of one wait. */
const minPauseMs = 500;
/**
 * The shortest pause between the looks of all waits, unless the poll interval is shorter. Without it, creates that begin one by
 * one could cause one listing each.
 */
const minSharedPauseMs = 100;
/**
 * No instance is expected to be ready within this part of the shortest time that one of the session has taken. Until then, a
 * wait for a new instance looks only once in a poll interval. Pulumi creates only eight instances at a time on two cores, so 20
 * instances are three waves of waits. With 10 s of provisioning, the three waves take 40 listings instead of 60, and only an instance
 * that is ready much sooner than all before is seen later.
 */
const quietShare = 0.5;
/** How many poll intervals pass between two looks at an instance that is expected to stay as it is. */
const watchIntervals = 5;
/** Looks may use this part of the rate limit of GET, unless they would then be more than a poll interval apart. */
const shareOfRateLimit = 0.5;

/** The status in a listing, by default that of the 202. */
export const statusOf = (item: ListItem | undefined): string => item?.status ?? "PROVISIONING";

/** What a poller is made with. */
export interface PollerOptions {
  listings: ListingSource;
  clock: Clock;
  pollIntervalMs: number;
  requestsPerMinute: number;
}

/** Waits for the instances of one session. */
export class Poller {
  readonly #listings: ListingSource;
  readonly #clock: Clock;
  readonly #pollIntervalMs: number;
  /** How long the poller pauses for each request of a look, to keep to its share of the rate limit. */
  readonly #msPerRequest: number;
  #waitCount = 0;
  /** The next look, or the one under way. Resolves to undefined if the last wait ended before the look began. */
  #look: Promise<Listing | undefined> | undefined;
  /** The clock time at which the first of the waits needs the next look. */
  #neededAt = Infinity;
  /** The clock time until which the poller pauses after the last look, whoever needs the next one. */
  #earliestAt = 0;
  #pause = new AbortController();
  /** The shortest time that a new instance of this session was PROVISIONING. Undefined until one has been. */
  #quickestMs: number | undefined;
  /** By id. A second wait for an instance goes on from there. */
  readonly #sightings = new Map<string, StatusSince>();

  constructor({ listings, clock, pollIntervalMs, requestsPerMinute }: PollerOptions) {
    this.#listings = listings;
    this.#clock = clock;
    this.#pollIntervalMs = pollIntervalMs;
    this.#msPerRequest = 60_000 / (requestsPerMinute * shareOfRateLimit);
  }

  /**
   * Resolves once `onListed` ends the wait, or listings show another end (`WaitEnd`). A look that failed with a
   * transient error is repeated. Any other error of a look ends every wait that shares the look. An abort, or an error of a
   * callback, ends only its own wait.
   *
   * @throws any other error of a look (for example a 401), any error of a callback, and the reason of `signal`
   */
  async wait(options: PollerWait): Promise<WaitEnd> {
    const { question, after = 0, listed, signal, known, onLook, onListed } = options;
    const { id } = question.subject;
    let changedAt = this.#clock.now();
    // Accepted just now. The age of any other instance is not known here.
    let isNew = !this.#sightings.has(id) && after > 0;
    let sighting = this.#sight(id, listed, changedAt);
    let witness: Witness = { ...witnessOf(question), lastSeen: listed };
    let seenAt = changedAt;
    let next = listed ? onListed(listed, seenAt - sighting.since) : "look";
    this.#waitCount++;
    try {
      while (next !== "end") {
        const look = this.#nextLook(
          next === "watch"
            ? watchIntervals * this.#pollIntervalMs
            : this.#pauseMsAfter(this.#clock.now() - changedAt, isNew),
        );
        const listing = await raceAbort(look, signal).catch((error: unknown) => {
          if (!(error instanceof RequestError && error.transient)) throw error;
          onLook(error);
          return undefined;
        });
        if (!listing || listing.beginMark <= after) continue;
        onLook(undefined);
        const { lastSeen } = witness;
        const seen = see(witness, listing, known());
        witness = seen.witness;
        const { verdict } = seen;
        if (verdict.kind === "open" && verdict.why === "cutOff") return "cutOff";
        if (verdict.kind === "absent" && lastSeen) return "gone";
        // The service has accepted the instance. As long as no listing has shown it, it may still come.
        if (verdict.kind !== "listed") continue;
        const [item] = verdict.items;
        const { begunAt } = listing;
        const before = sighting;
        sighting = this.#sight(id, item, begunAt);
        if (sighting.status !== before.status) {
          if (isNew) this.#quickestMs = Math.min(this.#quickestMs ?? Infinity, seenAt - changedAt);
          isNew = false;
          changedAt = begunAt;
        }
        seenAt = begunAt;
        next = onListed(item, begunAt - sighting.since);
      }
      return "over";
    } finally {
      this.#waitCount--;
      if (this.#waitCount === 0) {
        this.#neededAt = Infinity;
        // Without waits, the timer of the pause would only keep the process alive.
        this.#pause.abort(notNeeded);
      }
    }
  }

  /** For how long, in milliseconds, an instance that was waited for has been listed with its last status. */
  listedMs(id: string): number {
    const { since } = this.#sightings.get(id) ?? {};
    return since === undefined ? 0 : (this.#listings.latest?.begunAt ?? since) - since;
  }

  /** Takes how an instance is listed, if it is, by a listing that began at `at`. */
  #sight(id: string, item: ListItem | undefined, at: number): StatusSince {
    const before = this.#sightings.get(id);
    const status = statusOf(item);
    if (before && (!item || before.status === status)) return before;
    const sighting = { status, since: at };
    this.#sightings.set(id, sighting);
    return sighting;
  }

  /** Returns the look that all waits share. Brings it forward if a wait needs it after a shorter pause. */
  #nextLook(pauseMs: number): Promise<Listing | undefined> {
    const neededHereAt = this.#clock.now() + pauseMs;
    if (neededHereAt < this.#neededAt) {
      this.#neededAt = neededHereAt;
      this.#pause.abort(notNeeded);
    }
    return (this.#look ??= this.#takeLook());
  }

  /**
   * The pause in a wait for another status, at most the poll interval. After the first quick looks, the pause is a tenth of the
   * time since the last change, but at least `minPauseMs`.
   */
  #pauseMsAfter(waitedMs: number, isNew: boolean): number {
    const quietMs = isNew ? quietShare * (this.#quickestMs ?? 0) : 0;
    const firstMs = firstLooksMs.find((ms) => ms > waitedMs);
    const pauseMs = firstMs ? firstMs - waitedMs : Math.max(minPauseMs, waitedMs / 10);
    return Math.min(this.#pollIntervalMs, Math.max(pauseMs, quietMs - waitedMs));
  }

  /** Waits until the next look is due, and fetches its listing. */
  async #takeLook(): Promise<Listing | undefined> {
    let requests = 0;
    try {
      for (;;) {
        if (this.#waitCount === 0) return undefined;
        const pauseMs = Math.max(this.#neededAt, this.#earliestAt) - this.#clock.now();
        if (pauseMs <= 0) break;
        this.#pause = new AbortController();
        await this.#clock.sleep(pauseMs, this.#pause.signal).catch(() => undefined);
      }
      this.#neededAt = Infinity;
      requests = 1;
      const neverAborted = new AbortController().signal;
      const listing = await this.#listings.get({ notBefore: this.#clock.now() }, neverAborted);
      // An estimate, since a listing does not say how many requests it took.
      requests = Math.max(1, Math.ceil(listing.items.size / pageLimit.max));
      if (!listing.complete) requests += instanceStatuses.length;
      return listing;
    } finally {
      if (requests > 0) {
        const pauseMs = Math.max(minSharedPauseMs, requests * this.#msPerRequest);
        this.#earliestAt = this.#clock.now() + Math.min(this.#pollIntervalMs, pauseMs);
      }
      this.#look = undefined;
    }
  }
}
