/**
 * One poller for every instance in PROVISIONING (G7): however many are waited for, a tick takes one
 * listing and shows it to all of them.
 */
import { raceAbort } from "../abort";
import { RequestError } from "../api/errors";
import type { Clock } from "../clock";
import type { Listings } from "../listing/listings";
import type { Snapshot } from "../listing/snapshot";
import { Evidence, type Verdict } from "./evidence";

interface Wait {
  id: string;
  since: number;
  /** Listings begun before this mark do not know of the instance. */
  after: number;
  evidence: Evidence;
  onLook: (snapshot: Snapshot | undefined, problem: string | undefined) => void;
  resolve: (verdict: Verdict) => void;
  reject: (error: unknown) => void;
}

/** The first look comes this soon, for services that are quick. */
const shortestIntervalMs = 500;

export class Poller {
  readonly #waits = new Set<Wait>();
  #running = false;
  /** Ends the pause between two ticks, so that no timer is left when nobody waits. */
  #pause = new AbortController();

  constructor(
    private readonly listings: Listings,
    private readonly clock: Clock,
    private readonly pollIntervalMs: number,
  ) {}

  /**
   * Resolves once the instance has left PROVISIONING. A failed look is tried again for as long as
   * `signal` lasts, unless it can't get better (401, 403): then it rejects with that error.
   */
  async leaveProvisioning(
    id: string,
    options: { after: number; signal: AbortSignal; onLook: Wait["onLook"] },
  ): Promise<Verdict> {
    const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
    const wait: Wait = {
      id,
      since: this.clock.now(),
      after: options.after,
      evidence: new Evidence(id, this.pollIntervalMs),
      onLook: options.onLook,
      resolve,
      reject,
    };
    this.#waits.add(wait);
    void this.#run();
    try {
      return await raceAbort(promise, options.signal);
    } finally {
      this.#waits.delete(wait);
      if (this.#waits.size === 0) this.#pause.abort();
    }
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      while (this.#waits.size > 0) {
        this.#pause = new AbortController();
        await this.clock.sleep(this.#interval(), this.#pause.signal).catch(() => undefined);
        if (this.#waits.size > 0) await this.#look();
      }
    } finally {
      this.#running = false;
    }
  }

  /** A tenth of the youngest wait: quick at first, and never more than that much late. */
  #interval(): number {
    const youngest = Math.max(...[...this.#waits].map((wait) => wait.since));
    const tenth = (this.clock.now() - youngest) / 10;
    return Math.min(this.pollIntervalMs, Math.max(shortestIntervalMs, tenth));
  }

  async #look(): Promise<void> {
    // A tick is never older than the moment it is taken for.
    const need = { notBefore: this.clock.now() };
    let snapshot: Snapshot;
    try {
      snapshot = await this.listings.get(need, new AbortController().signal);
    } catch (error) {
      this.#forEach((wait) => {
        if (error instanceof RequestError && error.transient) wait.onLook(undefined, error.message);
        else wait.reject(error);
      });
      return;
    }
    this.#forEach((wait) => {
      if (snapshot.begun <= wait.after) return;
      wait.onLook(snapshot, undefined);
      const verdict = wait.evidence.see(snapshot);
      if (verdict) wait.resolve(verdict);
    });
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
