/**
 * Room for a create where the service has no cursor: then it shows 100 instances, and 100 of each
 * status. With more than that in PROVISIONING none of them could be proven to have left it, so creates
 * are held back before their POST until a listing would show theirs.
 */
import { notNeeded, raceAbort } from "../abort";
import { pageLimit } from "../api/documented";
import { RequestError } from "../api/errors";
import type { Clock } from "../clock";
import type { Snapshot } from "../listing/snapshot";
import { KeyedLocks } from "../locks";

export interface RoomOptions {
  clock: Clock;
  pollIntervalMs: number;
  /** Whether `compute:cursorParameter` is set: then there is always room. */
  hasCursor: boolean;
  /** Whether this process made the instance, or took it over. */
  isOurs: (id: string) => boolean;
}

export interface Entry {
  urn: string;
  /** A listing that serves as the create's baseline. */
  look: () => Promise<Snapshot>;
  signal: AbortSignal;
  /** Told when it has to wait. */
  onHeld: () => void;
}

export class Room {
  readonly #options: RoomOptions;
  /** Creates from before their POST until their end. */
  readonly #inside = new Set<string>();
  /** How many ever came in. */
  #entered = 0;
  /** First come, first served; only the first looks, however many wait. */
  readonly #queue = new KeyedLocks();
  readonly #held = new Set<Entry["onHeld"]>();
  #left = Promise.withResolvers<void>();

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  /** Resolves to the listing that showed that there is room, which `leave` gives back. */
  async enter(entry: Entry): Promise<Snapshot> {
    const snapshot = await entry.look();
    if (this.#options.hasCursor || this.#inside.has(entry.urn)) return snapshot;
    if (this.#held.size === 0 && this.#takes(entry.urn, snapshot)) return snapshot;
    entry.onHeld();
    this.#held.add(entry.onHeld);
    try {
      return await this.#queue.run("", entry.signal, () => this.#untilRoom(entry));
    } finally {
      this.#held.delete(entry.onHeld);
    }
  }

  leave(urn: string): void {
    if (!this.#inside.delete(urn)) return;
    this.#left.resolve();
    this.#left = Promise.withResolvers();
  }

  async #untilRoom({ urn, look, signal }: Entry): Promise<Snapshot> {
    const { clock, pollIntervalMs } = this.#options;
    for (;;) {
      const left = this.#left.promise;
      const snapshot = await look().catch(transientOnly);
      if (snapshot && this.#takes(urn, snapshot)) return snapshot;
      // Of those of others that leave PROVISIONING only a later listing tells.
      const pause = new AbortController();
      const ending = AbortSignal.any([signal, pause.signal]);
      const slept = clock.sleep(pollIntervalMs, ending);
      slept.catch(() => undefined);
      await raceAbort(Promise.race([left, slept]), signal);
      pause.abort(notNeeded);
    }
  }

  #takes(urn: string, snapshot: Snapshot): boolean {
    if (!this.#isRoom(snapshot)) return false;
    this.#inside.add(urn);
    this.#entered++;
    return true;
  }

  #isRoom({ complete, items }: Snapshot): boolean {
    // One at a time goes whatever others leave in PROVISIONING: nobody waits for ever.
    if (this.#inside.size === 0) return true;
    const others = [...items.values()].filter(({ id }) => !this.#options.isOurs(id));
    if (complete && others.length + this.#entered < pageLimit.max) return true;
    const pending = others.filter(({ status }) => status === "PROVISIONING").length;
    return pending + this.#inside.size < pageLimit.max;
  }
}

/** A look that failed for now is tried again, as the poller does. */
function transientOnly(error: unknown): undefined {
  if (!(error instanceof RequestError && error.transient)) throw error;
}
