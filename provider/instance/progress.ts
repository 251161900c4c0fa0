/** Shows in the Info column of `pulumi up` what a create or an update waits for, and for how long it has waited. */
import { notNeeded } from "../abort";
import type { ProviderContext } from "../context";
import type { Listing } from "../listing/listing";

type ProgressContext = Pick<ProviderContext, "clock" | "messages">;

/** Until the id is known, the column shows a wait only after this time. */
const firstMs = 1000;
/** The interval between two updates if nothing but the time changes. */
const intervalMs = 10_000;

/** Shows what a create waits for until the id is known, if the wait takes longer than a second. */
export class PostProgress {
  readonly #ctx: ProgressContext;
  readonly #urn: string;
  #end = new AbortController();

  constructor(ctx: ProgressContext, urn: string) {
    this.#ctx = ctx;
    this.#urn = urn;
  }

  /** From now on, shows what the create waits for, and the seconds so far. */
  show(activity: string): void {
    this.stop();
    this.#end = new AbortController();
    this.#repeat(activity, this.#end.signal).catch(() => undefined);
  }

  /** Stops the updates, and leaves no timer. */
  stop(): void {
    this.#end.abort(notNeeded);
  }

  async #repeat(activity: string, end: AbortSignal): Promise<void> {
    const { clock, messages } = this.#ctx;
    const start = clock.now();
    for (let pauseMs = firstMs; ; pauseMs = intervalMs) {
      await clock.sleep(pauseMs, end);
      messages.status(this.#urn, `${activity}, ${Math.round((clock.now() - start) / 1000)} s`);
    }
  }
}

/** Shows the status of an instance whose id is known, and the time so far. */
export class WaitProgress {
  /** The status in the last listing that showed the instance. */
  status = "PROVISIONING";
  /** Why the last listing failed. Undefined if it did not fail. */
  problem: string | undefined;
  readonly #ctx: ProgressContext;
  readonly #urn: string;
  readonly #id: string;
  readonly #start: number;
  /** Clock time of the last update of the column. */
  #shownAt = -Infinity;

  constructor(ctx: ProgressContext, urn: string, id: string) {
    this.#ctx = ctx;
    this.#urn = urn;
    this.#id = id;
    this.#start = ctx.clock.now();
    this.#show();
  }

  /** Takes a new listing, or the reason why it failed. */
  update(listing: Listing | undefined, problem: string | undefined): void {
    const status = listing?.items.get(this.#id)?.status ?? this.status;
    const isChanged =
      status !== this.status || (problem === undefined) !== (this.problem === undefined);
    this.status = status;
    this.problem = problem;
    if (isChanged || this.#ctx.clock.now() - this.#shownAt >= intervalMs) this.#show();
  }

  #show(): void {
    this.#shownAt = this.#ctx.clock.now();
    const seconds = Math.round((this.#shownAt - this.#start) / 1000);
    const time = seconds > 0 ? `, ${seconds} s` : "";
    const text = `${this.#id} ${this.status}${time}`;
    // A narrow terminal cuts off the end, so the text begins with what matters most.
    const failure = `last look failed, trying again: ${text} (${this.problem})`;
    this.#ctx.messages.status(this.#urn, this.problem ? failure : text);
  }
}
