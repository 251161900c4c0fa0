/**
 * Room for a create where the service has no cursor: then it shows 100 instances, and 100 of each
 * status. With more than that in PROVISIONING none of them could be proven to have left it, so creates
 * are held back before their POST until a listing would show theirs.
 */
import { notNeeded } from "../abort";
import { pageLimit } from "../api/documented";
import { RequestError } from "../api/errors";
import type { Clock } from "../clock";
import type { Listing } from "../listing/listing";
import { KeyedLocks } from "../locks";

export interface CreateSlotsOptions {
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
  look: () => Promise<Listing>;
  signal: AbortSignal;
  /** Told when it has to wait. */
  onHeld: () => void;
}

export class CreateSlots {
  /** Creates from before their POST until their end. */
  readonly #inside = new Set<string>();
  /** First come, first served; only the first looks, however many wait. */
  readonly #queue = new KeyedLocks();
  #held = 0;
  #left = new AbortController();

  constructor(private readonly options: CreateSlotsOptions) {}

  /** Resolves to the listing that showed that there is room, which `leave` gives back. */
  async enter({ urn, look, signal, onHeld }: Entry): Promise<Listing> {
    const { clock, pollIntervalMs, hasCursor } = this.options;
    const first = await look();
    if (hasCursor || this.#inside.has(urn)) return first;
    if (this.#held === 0 && this.#takes(urn, first)) return first;
    onHeld();
    this.#held++;
    const untilRoom = async (): Promise<Listing> => {
      for (;;) {
        const left = this.#left.signal;
        const listing = await look().catch(transientOnly);
        if (listing && this.#takes(urn, listing)) return listing;
        // Of those of others that leave PROVISIONING only a later listing tells.
        const wake = AbortSignal.any([signal, left]);
        await clock.sleep(pollIntervalMs, wake).catch(() => signal.throwIfAborted());
      }
    };
    try {
      return await this.#queue.run("", signal, untilRoom);
    } finally {
      this.#held--;
    }
  }

  leave(urn: string): void {
    if (!this.#inside.delete(urn)) return;
    this.#left.abort(notNeeded);
    this.#left = new AbortController();
  }

  #takes(urn: string, { items }: Listing): boolean {
    const others = [...items.values()].filter(({ id }) => !this.options.isOurs(id));
    const pending = others.filter(({ status }) => status === "PROVISIONING").length;
    // One at a time goes whatever others leave in PROVISIONING: nobody waits for ever.
    const isRoom = this.#inside.size === 0 || pending + this.#inside.size < pageLimit.max;
    if (isRoom) this.#inside.add(urn);
    return isRoom;
  }
}

/** A look that failed for now is tried again, as the poller does. */
function transientOnly(error: unknown): undefined {
  if (!(error instanceof RequestError && error.transient)) throw error;
}
