/**
 * One poller for every instance in PROVISIONING (G7): however many are waited for, each look takes one
 * listing and shows it to all of them.
 */
import { notNeeded, raceAbort } from "../abort";
import { instanceStatuses, pageLimit } from "../api/serviceConstants";
import { RequestError } from "../api/errors";
import type { Clock } from "../clock";
import type { Listing, ListingSource } from "../listing/listing";
import { WaitState, type WaitResult } from "./waitState";

interface Wait {
  /** Clock time at which the wait began. */
  since: number;
  after: number;
  state: WaitState;
  onLook: (listing: Listing | undefined, problem: string | undefined) => void;
  resolve: (result: WaitResult) => void;
  reject: (error: unknown) => void;
}

/** When the first looks are taken, after the begin of the newest wait: a sandbox may be ready at once. */
const firstLooksMs: readonly number[] = [100, 300, 600];
/** The shortest pause between later looks. */
const shortestPauseMs = 500;
/** The part of the rate limit of GET that looks take at most. */
const shareOfRateLimit = 0.5;

/** Waits for the instances of one session. */
export class Poller {
  readonly #listings: ListingSource;
  readonly #clock: Clock;
  readonly #pollIntervalMs: number;
  readonly #msPerRequest: number;
  readonly #waits = new Set<Wait>();
  #isRunning = false;
  /** Clock time of the next look. */
  #nextLook = Infinity;
  /** Clock time before which another look would take more than its share of the rate limit. */
  #earliestLook = 0;
  /** Ends the pause between two looks. */
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
   * Resolves once the instance has left PROVISIONING. A look that failed is repeated, unless repeating
   * can't help (401, 403).
   *
   * @throws RequestError where a look can't be repeated, whatever `onLook` throws, and the reason of `signal`
   */
  async leaveProvisioning(
    id: string,
    options: {
      /** Listings begun before this mark need not show the instance. */
      after: number;
      /** Clock time at which the settling time since its 202 is over. */
      settledAt?: number;
      signal: AbortSignal;
      /** Given the listing of each look, or why the look failed. */
      onLook: Wait["onLook"];
    },
  ): Promise<WaitResult> {
    const { promise, resolve, reject } = Promise.withResolvers<WaitResult>();
    const { after, settledAt = 0, signal, onLook } = options;
    const state = new WaitState(id, this.#pollIntervalMs, settledAt);
    const wait: Wait = { since: this.#clock.now(), after, state, onLook, resolve, reject };
    this.#waits.add(wait);
    // Others may wait for an earlier look.
    this.#nextLook = Math.min(this.#nextLook, this.#lookAfter(wait.since));
    this.#pause.abort(notNeeded);
    void this.#run();
    try {
      return await raceAbort(promise, signal);
    } finally {
      this.#waits.delete(wait);
      // Else the timer would keep the process alive.
      if (this.#waits.size === 0) this.#pause.abort(notNeeded);
    }
  }

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
      this.#nextLook = this.#lookAfter(Math.max(...[...this.#waits].map(({ since }) => since)));
    }
    this.#isRunning = false;
    this.#nextLook = Infinity;
  }

  /**
   * Clock time of the look that follows, if the newest wait began at `since`: quick at first, then after a
   * tenth of the time that it has lasted, up to the poll interval.
   */
  #lookAfter(since: number): number {
    const now = this.#clock.now();
    const ageMs = now - since;
    const firstMs = firstLooksMs.find((ms) => ms > ageMs);
    const pauseMs = firstMs === undefined ? Math.max(shortestPauseMs, ageMs / 10) : firstMs - ageMs;
    return Math.max(this.#earliestLook, now + Math.min(this.#pollIntervalMs, pauseMs));
  }

  /** Takes one listing and shows it to every wait. Resolves to about how many requests that took. */
  async #look(): Promise<number> {
    let listing: Listing;
    try {
      const notBefore = this.#clock.now();
      listing = await this.#listings.get({ notBefore }, new AbortController().signal);
    } catch (error) {
      this.#forEachWait((wait) => {
        if (error instanceof RequestError && error.transient) wait.onLook(undefined, error.message);
        else wait.reject(error);
      });
      return 1;
    }
    this.#forEachWait((wait) => {
      if (listing.begun <= wait.after) return;
      wait.onLook(listing, undefined);
      const result = wait.state.see(listing);
      if (result) wait.resolve(result);
    });
    const pages = Math.max(1, Math.ceil(listing.items.size / pageLimit.max));
    return listing.complete ? pages : pages + instanceStatuses.length;
  }

  /** A defect at one wait ends that one; the others, and the poller, go on (G1). */
  #forEachWait(tell: (wait: Wait) => void): void {
    for (const wait of this.#waits) {
      try {
        tell(wait);
      } catch (error) {
        wait.reject(error);
      }
    }
  }
}
