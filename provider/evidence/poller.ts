/** Waits for instances until their status changes. Each look fetches one listing, which all waits of the session share (G7). */
import { notNeeded, raceAbort } from "../abort";
import { instanceStatuses, pageLimit } from "../api/serviceConstants";
import { RequestError } from "../api/errors";
import type { Clock } from "../clock";
import type { ListItem } from "../api/contract";
import { Once } from "../once";
import type { Listing, ListingSource } from "./listing";
import { see, witnessOf, type Witness } from "./witness";

/** How the wait for an instance ended. */
export type WaitResult =
  /** The instance is listed with a status that ends the wait. */
  | { kind: "left"; item: ListItem }
  /** The instance has left PROVISIONING, but the list that should show it now is cut off. */
  | { kind: "notListed"; lastSeen: ListItem | undefined }
  /** The instance was listed before, and is now proven gone (guarantee G3). */
  | { kind: "deleted" };

/** What the looks of a wait are for. */
export interface LookOptions {
  /** Every listing that begins at this clock time or later shows the instance, if it exists. */
  listedBy: number;
  signal: AbortSignal;
  /** Called after each look: with the listing, unless it is ignored, or with a transient error. */
  onLook: (listing: Listing | undefined, problem: RequestError | undefined) => void;
}

interface WaitOptions extends LookOptions {
  /** The mark (`ListingSource.mark`) of the end of the POST. Listings with a lower mark are ignored. By default, every listing counts. */
  after?: number;
}

/** What differs between the waits. */
interface WaitKind {
  /** The instance as an earlier listing has shown it. */
  lastSeen?: ListItem | undefined;
  /** Milliseconds until a wait that has lasted for `waitedMs` needs its next look. */
  pauseMsAfter: (waitedMs: number) => number;
  /** Whether the wait is over for an instance that is listed so. */
  isOver: (item: ListItem) => boolean;
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
 * are three waits, one after the other. With 10 s of provisioning they then take 40 listings instead of 60, and only an instance
 * much quicker than all before is seen later.
 */
const quietShare = 0.5;
/** How many poll intervals pass between two looks at an instance that is expected to stay as it is. */
const watchIntervals = 5;
/** Looks may use this part of the rate limit of GET, unless they would then be more than a poll interval apart. */
const shareOfRateLimit = 0.5;

/** Whether an instance is listed with a status other than PROVISIONING. */
export function hasLeftProvisioning({ status }: ListItem): boolean {
  return status !== undefined && status !== "PROVISIONING";
}

/** Whether an instance is listed as ACTIVE, and without a public address. */
export function isListedWithoutAddress(item: ListItem | undefined): boolean {
  return item?.status === "ACTIVE" && item.ipv4_public === undefined;
}

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
  /** The instances that were waited for. A second wait for one may find it ready at once. */
  readonly #waitedFor = new Once();

  constructor({ listings, clock, pollIntervalMs, requestsPerMinute }: PollerOptions) {
    this.#listings = listings;
    this.#clock = clock;
    this.#pollIntervalMs = pollIntervalMs;
    this.#msPerRequest = 60_000 / (requestsPerMinute * shareOfRateLimit);
  }

  /**
   * Resolves once the instance has left PROVISIONING, or was listed and is then proven gone. A look that failed with a
   * transient error is repeated. Any other error of a look ends every wait that shares the look. An abort, or an error of
   * `onLook`, ends only its own wait.
   *
   * @throws any other error of a look (for example a 401), any error of `onLook`, and the reason of `signal`
   */
  async waitWhileProvisioning(id: string, options: WaitOptions): Promise<WaitResult> {
    const { after = 0 } = options;
    // Accepted just now. The age of any other instance is not known here.
    const isNew = this.#waitedFor.add(id) && after > 0;
    const startedAt = this.#clock.now();
    let provisioningMs = 0;
    const onLook: typeof options.onLook = (listing, problem) => {
      const item = listing?.items.get(id);
      if (listing && item && !hasLeftProvisioning(item))
        provisioningMs = listing.begunAt - startedAt;
      options.onLook(listing, problem);
    };
    const looks = { ...options, onLook };
    const result = await this.#wait(id, looks, {
      pauseMsAfter: (waitedMs) => this.#pauseMsAfter(waitedMs, isNew),
      isOver: hasLeftProvisioning,
    });
    if (isNew && result.kind === "left")
      this.#quickestMs = Math.min(this.#quickestMs ?? Infinity, provisioningMs);
    return result;
  }

  /**
   * Resolves once the ACTIVE instance `lastSeen` is listed with a public address or with a status other than ACTIVE and
   * PROVISIONING, or is proven gone.
   *
   * @throws as `waitWhileProvisioning`
   */
  async waitForAddress(lastSeen: ListItem, options: LookOptions): Promise<WaitResult> {
    return await this.#wait(lastSeen.id, options, {
      lastSeen,
      pauseMsAfter: (waitedMs) => this.#pauseMsAfter(waitedMs, false),
      isOver: (item) => hasLeftProvisioning(item) && !isListedWithoutAddress(item),
    });
  }

  /**
   * Resolves once the instance `lastSeen` is listed with a status other than ACTIVE and PROVISIONING, or is proven gone. It
   * takes few looks of its own, but uses those of other waits, and fails as they do.
   *
   * @throws as `waitWhileProvisioning`
   */
  async waitWhileActive(lastSeen: ListItem, options: LookOptions): Promise<WaitResult> {
    return await this.#wait(lastSeen.id, options, {
      lastSeen,
      pauseMsAfter: () => watchIntervals * this.#pollIntervalMs,
      isOver: (item) => hasLeftProvisioning(item) && item.status !== "ACTIVE",
    });
  }

  async #wait(id: string, options: WaitOptions, kind: WaitKind): Promise<WaitResult> {
    const { after = 0, listedBy, signal, onLook } = options;
    const { isOver, pauseMsAfter } = kind;
    const question = { subject: { id }, listedBy, pollIntervalMs: this.#pollIntervalMs };
    let witness: Witness = { ...witnessOf(question), lastSeen: kind.lastSeen };
    const startedAt = this.#clock.now();
    this.#waitCount++;
    try {
      for (;;) {
        const look = this.#nextLook(pauseMsAfter(this.#clock.now() - startedAt));
        const listing = await raceAbort(look, signal).catch((error: unknown) => {
          if (!(error instanceof RequestError && error.transient)) throw error;
          onLook(undefined, error);
          return undefined;
        });
        if (!listing || listing.beginMark <= after) continue;
        onLook(listing, undefined);
        const seen = see(witness, listing);
        witness = seen.witness;
        const { verdict } = seen;
        const { lastSeen } = witness;
        if (verdict.kind === "listed") {
          const [item] = verdict.items;
          if (isOver(item)) return { kind: "left", item };
        } else if (verdict.kind === "open") {
          if (verdict.why === "cutOff") return { kind: "notListed", lastSeen };
        } else if (lastSeen) return { kind: "deleted" };
        // The service has accepted the instance. As long as no listing has shown it, it may still come.
      }
    } finally {
      this.#waitCount--;
      if (this.#waitCount === 0) {
        this.#neededAt = Infinity;
        // Without waits, the timer of the pause would only keep the process alive.
        this.#pause.abort(notNeeded);
      }
    }
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
   * The pause in a wait for the end of PROVISIONING, at most the poll interval. After the first quick looks, the pause is a
   * tenth of the wait so far, but at least `minPauseMs`.
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
