/** What the Info column shows while a create, or an update that goes on with one, waits. */
import { notNeeded } from "../abort";
import type { ProviderContext } from "../context";
import type { Listing } from "../listing/listing";

type ProgressContext = Pick<ProviderContext, "clock" | "messages">;

/** The first text comes after this time, and the next ones, unless something changes, at this interval. */
const firstMs = 1000;
const intervalMs = 10_000;

/** Until the id is known: shows what the create waits for, once that takes a second. */
export class PostProgress {
  readonly #ctx: ProgressContext;
  readonly #urn: string;
  #end = new AbortController();

  constructor(ctx: ProgressContext, urn: string) {
    this.#ctx = ctx;
    this.#urn = urn;
  }

  /** From now on the create waits for `activity`. */
  show(activity: string): void {
    this.stop();
    this.#end = new AbortController();
    this.#repeat(activity, this.#end.signal).catch(() => undefined);
  }

  /** Shows nothing any more, and leaves no timer. */
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

/** Once the id is known: shows the status and the time so far. */
export class WaitProgress {
  /** As last listed. */
  status = "PROVISIONING";
  /** Why the last look failed. */
  problem: string | undefined;
  readonly #ctx: ProgressContext;
  readonly #urn: string;
  readonly #id: string;
  readonly #start: number;
  #shownAt = -Infinity;

  constructor(ctx: ProgressContext, urn: string, id: string) {
    this.#ctx = ctx;
    this.#urn = urn;
    this.#id = id;
    this.#start = ctx.clock.now();
    this.#show();
  }

  /** After each look: `snapshot` is the listing, or `problem` is why it failed. */
  update(snapshot: Listing | undefined, problem: string | undefined): void {
    const status = snapshot?.items.get(this.#id)?.status ?? this.status;
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
    // The problem comes first: a narrow terminal cuts the end off.
    const problem = this.problem ? "last look failed, trying again: " : "";
    this.#ctx.messages.status(this.#urn, `${problem}${this.#id} ${this.status}${time}`);
  }
}
