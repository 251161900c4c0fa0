/** The Info column while a create, or an update that goes on with one, waits. */
import { notNeeded } from "../abort";
import type { Listing } from "../listing/listing";
import type { ProviderContext } from "../context";

type Around = Pick<ProviderContext, "clock" | "messages">;

/** How often it is refreshed when nothing changes. */
const refreshMs = 10_000;
const firstMs = 1000;

/** Until the create is answered: what it waits for, once that takes a second. */
export class PostProgress implements Disposable {
  #end = new AbortController();

  constructor(
    private readonly ctx: Around,
    private readonly urn: string,
  ) {}

  /** What it does from now on. */
  is(what: string): void {
    this.stop();
    this.#end = new AbortController();
    this.#tell(what, this.#end.signal).catch(() => undefined);
  }

  /** Leaves no timer. */
  stop(): void {
    this.#end.abort(notNeeded);
  }
  [Symbol.dispose](): void {
    this.stop();
  }

  async #tell(what: string, end: AbortSignal): Promise<void> {
    const { clock, messages } = this.ctx;
    const start = clock.now();
    for (let pause = firstMs; ; pause = refreshMs) {
      await clock.sleep(pause, end);
      messages.status(this.urn, `${what}, ${Math.round((clock.now() - start) / 1000)} s`);
    }
  }
}

/** From then on: the status and the time so far, on a change or every ten seconds. */
export class WaitProgress {
  status = "PROVISIONING";
  problem: string | undefined;
  readonly #start: number;
  #last = -Infinity;

  constructor(
    private readonly ctx: Around,
    private readonly instance: { urn: string; id: string },
  ) {
    this.#start = ctx.clock.now();
    this.#say();
  }

  looked(listing: Listing | undefined, problem: string | undefined): void {
    const status = listing
      ? (listing.items.get(this.instance.id)?.status ?? this.status)
      : this.status;
    const changed =
      status !== this.status || (problem === undefined) !== (this.problem === undefined);
    this.status = status;
    this.problem = problem;
    if (changed || this.ctx.clock.now() - this.#last >= refreshMs) this.#say();
  }

  #say(): void {
    const now = this.ctx.clock.now();
    this.#last = now;
    const seconds = Math.round((now - this.#start) / 1000);
    const time = seconds > 0 ? `, ${seconds} s` : "";
    // First, since a narrow terminal cuts the end off.
    const problem = this.problem ? "last look failed, trying again: " : "";
    const text = `${problem}${this.instance.id} ${this.status}${time}`;
    this.ctx.messages.status(this.instance.urn, text);
  }
}
