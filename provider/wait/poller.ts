/** Waits for the instances in PROVISIONING. Each look fetches one listing, and shows it to all waits of the session (G7). */
import { notNeeded, raceAbort } from "../abort";
import { instanceStatuses, pageLimit } from "../api/serviceConstants";
import { RequestError } from "../api/errors";
import type { Clock } from "../clock";
import type { Listing, ListingSource } from "../listing/listing";
import { WaitState, type WaitResult } from "./waitState";

interface WaitOptions {
  /** The mark (`ListingSource.mark`) at which the POST ended. Listings that began earlier are ignored. */
  after: number;
  /** The clock time until which a listing may lack the instance. */
  settledAt: number;
  signal: AbortSignal;
  /** Called after each look with the listing, or with the message of a transient error. */
  onListing: (listing: Listing | undefined, problem: string | undefined) => void;
}

interface Wait extends Pick<WaitOptions, "after" | "onListing"> {
  /** The clock time at which the wait began. */
  startedAt: number;
  state: WaitState;
  resolve: (result: WaitResult) => void;
  reject: (error: unknown) => void;
}

/** When the first looks are due after the start of the newest wait. An instance of a test token may be ready at once. */
const firstLooksMs: readonly number[] = [100, 300, 600];
/** The shortest pause between later looks. */
const minPauseMs = 500;
/** Looks may use this part of the rate limit of GET, unless they would then be more than a poll interval apart. */
const shareOfRateLimit = 0.5;

/** Waits for the instances of one session. */
export class Poller {
  readonly #listings: ListingSource;
  readonly #clock: Clock;
  readonly #pollIntervalMs: number;
  /** How long the poller pauses for each request of a look, to keep to its share of the rate limit. */
  readonly #msPerRequest: number;
  readonly #waits = new Set<Wait>();
  #isRunning = false;
  /** A clock time. */
  #nextLook = Infinity;
  /** The clock time until which the poller pauses to keep to its share of the rate limit. */
  #earliestLook = 0;
  #pause = new AbortController();

  constructor(
    listings: ListingSource,
    clock: Clock,
    pollIntervalMs: number,
    requestsPerMinute: number,
  ) {
    this.#listings = listings;
    this.#clock = clock;
    this.#pollIntervalMs = pollIntervalMs;
    this.#msPerRequest = 60_000 / (requestsPerMinute * shareOfRateLimit);
  }

  /**
   * Resolves once the instance has left PROVISIONING or is proven gone. A look that failed with a transient error
   * is repeated.
   *
   * @throws any other error of a look (for example a 401), any error of `onListing`, and the reason of `signal`
   */
  async waitWhileProvisioning(id: string, options: WaitOptions): Promise<WaitResult> {
    const { promise, resolve, reject } = Promise.withResolvers<WaitResult>();
    const { after, settledAt, signal, onListing } = options;
    const state = new WaitState(id, this.#pollIntervalMs, settledAt);
    const startedAt = this.#clock.now();
    const wait: Wait = { after, onListing, startedAt, state, resolve, reject };
    this.#waits.add(wait);
    // The new wait may need an earlier look than the poller has planned for the other waits.
    this.#nextLook = Math.min(this.#nextLook, this.#nextLookFor(startedAt));
    this.#pause.abort(notNeeded);
    void this.#run();
    try {
      return await raceAbort(promise, signal);
    } finally {
      this.#waits.delete(wait);
      // Without waits, the timer of the pause would only keep the process alive.
      if (this.#waits.size === 0) this.#pause.abort(notNeeded);
    }
  }

  /** Looks until no wait is left, unless an earlier call does so already. */
  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waits.size > 0) {
      const pauseMs = this.#nextLook - this.#clock.now();
      if (pauseMs > 0) {
        this.#pause = new AbortController();
        await this.#clock.sleep(pauseMs, this.#pause.signal).catch(() => undefined);
        continue;
      }
      const requests = await this.#look();
      const costMs = Math.min(this.#pollIntervalMs, requests * this.#msPerRequest);
      this.#earliestLook = this.#clock.now() + costMs;
      this.#nextLook = this.#nextLookFor(
        Math.max(...[...this.#waits].map(({ startedAt }) => startedAt)),
      );
    }
    this.#isRunning = false;
    this.#nextLook = Infinity;
  }

  /**
   * Returns the clock time of the next look. After the first quick looks, the pause is a tenth of what the newest wait has
   * lasted so far, but at least `minPauseMs` and at most the poll interval.
   */
  #nextLookFor(startedAt: number): number {
    const now = this.#clock.now();
    const waitedMs = now - startedAt;
    const firstMs = firstLooksMs.find((ms) => ms > waitedMs);
    const pauseMs =
      firstMs === undefined ? Math.max(minPauseMs, waitedMs / 10) : firstMs - waitedMs;
    return Math.max(this.#earliestLook, now + Math.min(this.#pollIntervalMs, pauseMs));
  }

  /** Fetches one listing and shows it to every wait. Resolves to an estimate of how many requests that took. */
  async #look(): Promise<number> {
    let listing: Listing;
    try {
      const notBefore = this.#clock.now();
      listing = await this.#listings.get({ notBefore }, new AbortController().signal);
    } catch (error) {
      this.#forEachWait((wait) => {
        if (error instanceof RequestError && error.transient)
          wait.onListing(undefined, error.message);
        else wait.reject(error);
      });
      return 1;
    }
    this.#forEachWait((wait) => {
      if (listing.beginMark <= wait.after) return;
      wait.onListing(listing, undefined);
      const result = wait.state.judge(listing);
      if (result) wait.resolve(result);
    });
    const pages = Math.max(1, Math.ceil(listing.items.size / pageLimit.max));
    return listing.complete ? pages : pages + instanceStatuses.length;
  }

  /** An error ends only the wait in question, so that no other created instance is lost (G1). */
  #forEachWait(action: (wait: Wait) => void): void {
    for (const wait of this.#waits) {
      try {
        action(wait);
      } catch (error) {
        wait.reject(error);
      }
    }
  }
}
