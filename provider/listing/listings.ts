/**
 * The listings of one configured provider, shared by everything that looks (G7): those who ask at
 * about the same time get the same one, so their number costs nothing.
 */
import { raceAbort } from "../abort";
import type { Clock } from "../clock";
import type { Snapshot } from "./snapshot";

export interface Freshness {
  /** Begun after this mark (see `mark`). */
  after?: number;
  /** Begun no earlier than this clock time. */
  notBefore?: number;
}

/** How old a listing may be that answers a Read or serves as a baseline (nothing of ours written since). */
export const shareableMs = 2000;

type Take = (signal: AbortSignal) => Promise<Omit<Snapshot, "begun" | "begunAt" | "endedAt">>;

export class Listings {
  #order = 0;
  #lastWrite = 0;
  #latest: Snapshot | undefined;
  #underWay: { begun: number; begunAt: number; snapshot: Promise<Snapshot> } | undefined;

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
  get latest(): Snapshot | undefined {
    return this.#latest;
  }

  /** What a Read needs: begun after this process's last write (G3), and fresh. */
  get shareable(): Freshness {
    return { after: this.#lastWrite, notBefore: this.clock.now() - shareableMs };
  }

  async get(need: Freshness, signal: AbortSignal): Promise<Snapshot> {
    signal.throwIfAborted();
    const wait = (need.notBefore ?? 0) - this.clock.now();
    if (wait > 0) await this.clock.sleep(wait, signal);
    for (;;) {
      if (this.#latest && meets(this.#latest, need)) return this.#latest;
      const running = this.#underWay;
      if (!running) return raceAbort(this.#begin(), signal);
      if (meets(running, need)) return raceAbort(running.snapshot, signal);
      // Too old to serve; those who wait for its end share the one after it.
      await raceAbort(
        running.snapshot.catch(() => undefined),
        signal,
      );
    }
  }

  #begin(): Promise<Snapshot> {
    const begun = this.mark();
    const begunAt = this.clock.now();
    const snapshot = this.take(this.signal())
      .then((findings) => {
        this.#latest = { begun, begunAt, endedAt: this.clock.now(), ...findings };
        return this.#latest;
      })
      .finally(() => {
        this.#underWay = undefined;
      });
    this.#underWay = { begun, begunAt, snapshot };
    return snapshot;
  }
}

function meets(listing: { begun: number; begunAt: number }, need: Freshness): boolean {
  return listing.begun > (need.after ?? 0) && listing.begunAt >= (need.notBefore ?? -Infinity);
}
