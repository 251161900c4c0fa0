/**
 * One poller for every instance in PROVISIONING (G7): however many are waited for, a tick takes one
 * listing and shows it to all of them.
 */
import { notNeeded, raceAbort } from "../abort";
import { documentedRequestsPerMinute, instanceStatuses, pageLimit } from "../api/documented";
import { RequestError } from "../api/errors";
import type { Clock } from "../clock";
import type { Listing, ListingSource } from "../listing/listing";
import { WaitState, type Verdict } from "./waitState";

interface Wait {
  id: string;
  since: number;
  /** Listings begun before this mark do not know of the instance. */
  after: number;
  evidence: WaitState;
  onLook: (listing: Listing | undefined, problem: string | undefined) => void;
  resolve: (verdict: Verdict) => void;
  reject: (error: unknown) => void;
}

/** Times of the first looks, after the last acceptance: a sandbox that is ready at once is seen at once. */
const firstLooksMs: readonly number[] = [100, 300, 600];
/** The shortest time between two later looks. */
const shortestIntervalMs = 500;
/** The part of the rate limit that looks take at most, unless one takes more pages than that allows in a poll interval. */
const shareOfLimit = 0.5;
/** Requests that may exceed that share for a moment: the first looks for one create. */
const burst = 4;

export class Poller {
  readonly #waits = new Set<Wait>();
  readonly #msPerRequest: number;
  #running = false;
  /** Clock time of the next look. */
  #due = Infinity;
  /** Clock time until which the looks so far use up the share of the rate limit. */
  #paidUntil = 0;
  /** Ends the pause between two looks: one is due sooner, or nobody waits and no timer is to be left. */
  #pause = new AbortController();

  constructor(
    private readonly listings: ListingSource,
    private readonly clock: Clock,
    private readonly pollIntervalMs: number,
    requestsPerMinute: number = documentedRequestsPerMinute,
  ) {
    this.#msPerRequest = 60_000 / (requestsPerMinute * shareOfLimit);
  }

  /**
   * Resolves once the instance has left PROVISIONING. A failed look is tried again for as long as
   * `signal` lasts, unless it can't get better (401, 403): then it rejects with that error.
   */
  async leaveProvisioning(
    id: string,
    options: {
      after: number;
      /** Clock time at which the settling time since its 202 is over. */
      settledAt?: number;
      /** Clock time at which it was accepted; left out: now. */
      since?: number;
      signal: AbortSignal;
      onLook: Wait["onLook"];
    },
  ): Promise<Verdict> {
    const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
    const wait: Wait = {
      id,
      since: options.since ?? this.clock.now(),
      after: options.after,
      evidence: new WaitState(id, this.pollIntervalMs, options.settledAt ?? 0),
      onLook: options.onLook,
      resolve,
      reject,
    };
    this.#waits.add(wait);
    // Never later than it was: others may wait for it. One that is waited for again may be ready by now.
    this.#due = Math.min(this.#due, this.#nextLook(this.clock.now()));
    this.#pause.abort(notNeeded);
    void this.#run();
    try {
      return await raceAbort(promise, options.signal);
    } finally {
      this.#waits.delete(wait);
      if (this.#waits.size === 0) this.#pause.abort(notNeeded);
    }
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      while (this.#waits.size > 0) {
        const wait = this.#due - this.clock.now();
        if (wait > 0) {
          this.#pause = new AbortController();
          await this.clock.sleep(wait, this.#pause.signal).catch(() => undefined);
          continue;
        }
        this.#pay(await this.#look());
        this.#due = this.#nextLook(Math.max(...[...this.#waits].map(({ since }) => since)));
      }
    } finally {
      this.#running = false;
      this.#due = Infinity;
    }
  }

  #pay(requests: number): void {
    const now = this.clock.now();
    const until = Math.max(now, this.#paidUntil) + requests * this.#msPerRequest;
    this.#paidUntil = Math.min(until, now + this.pollIntervalMs + burst * this.#msPerRequest);
  }

  /**
   * Clock time of the next look, for a last acceptance at `since`: quick at first, then after a tenth of the
   * time that has passed, within the poll interval and the looks' share of the limit.
   */
  #nextLook(since: number): number {
    const now = this.clock.now();
    const age = now - since;
    const first = firstLooksMs.find((ms) => ms > age);
    const pause = first === undefined ? Math.max(shortestIntervalMs, age / 10) : first - age;
    const earliest = this.#paidUntil - burst * this.#msPerRequest;
    return Math.max(earliest, now + Math.min(this.pollIntervalMs, pause));
  }

  /** Takes one listing and shows it to every wait; gives about how many requests that took. */
  async #look(): Promise<number> {
    // A listing begun earlier may not show what this look is for.
    const need = { notBefore: this.clock.now() };
    let listing: Listing;
    try {
      listing = await this.listings.get(need, new AbortController().signal);
    } catch (error) {
      this.#forEach((wait) => {
        if (error instanceof RequestError && error.transient) wait.onLook(undefined, error.message);
        else wait.reject(error);
      });
      return 1;
    }
    this.#forEach((wait) => {
      if (listing.begun <= wait.after) return;
      wait.onLook(listing, undefined);
      const verdict = wait.evidence.see(listing);
      if (verdict) wait.resolve(verdict);
    });
    const pages = Math.max(1, Math.ceil(listing.items.size / pageLimit.max));
    // A listing that is not complete took one more request for each status.
    return listing.complete ? pages : pages + instanceStatuses.length;
  }

  /** A defect met at one wait ends that one; the others, and the poller, go on (G1). */
  #forEach(tell: (wait: Wait) => void): void {
    for (const wait of this.#waits) {
      try {
        tell(wait);
      } catch (error) {
        wait.reject(error);
      }
    }
  }
}
