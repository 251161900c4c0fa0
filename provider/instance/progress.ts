/** Shows in the Info column of `pulumi up` what a create or an update waits for, and for how long it has waited. */
import { notNeeded } from "../abort";
import type { Listing } from "../evidence/listing";
import type { Session } from "../session/session";
import type { AwaitedPort, FailedTry } from "./port";

/** Until the id is known, the column shows a wait only after this time. */
const firstMs = 1000;
/** The interval between two updates if nothing but the time changes. */
const intervalMs = 10_000;

/** Shows what a create waits for until the id is known, if the wait takes longer than a second. */
export class PostProgress {
  readonly #session: Session;
  readonly #signal: AbortSignal;
  #end = new AbortController();

  /** `signal` is that of the create's operation. */
  constructor(session: Session, signal: AbortSignal) {
    this.#session = session;
    this.#signal = signal;
  }

  /** From now on, shows what the create waits for, and the seconds so far. */
  show(activity: string): void {
    this.stop();
    this.#end = new AbortController();
    const { ctx, operations } = this.#session;
    const { clock } = ctx;
    const start = clock.now();
    const seconds = () => Math.round((clock.now() - start) / 1000);
    operations.setActivity(this.#signal, () => `${activity}, ${seconds()} s`);
    this.#repeat(this.#end.signal).catch(() => undefined);
  }

  /** Stops the updates, and leaves no timer. */
  stop(): void {
    this.#end.abort(notNeeded);
    this.#session.operations.setActivity(this.#signal, undefined);
  }

  async #repeat(end: AbortSignal): Promise<void> {
    const { ctx, operations } = this.#session;
    for (let pauseMs = firstMs; ; pauseMs = intervalMs) {
      await ctx.clock.sleep(pauseMs, end);
      operations.show(this.#signal);
    }
  }
}

/** What an instance does from the 202 on, until a listing shows otherwise. */
const accepted = "PROVISIONING";

/** Shows the status of an instance whose id is known, the time of the operation so far, and its time-out. */
export class WaitProgress {
  /** The status in the last listing that showed the instance. */
  status: string | undefined;
  /** Why the last listing failed. Undefined if it did not fail. */
  problem: string | undefined;
  /** The port that is awaited, once the instance has left PROVISIONING. */
  port: AwaitedPort | undefined;
  readonly #session: Session;
  readonly #signal: AbortSignal;
  readonly #id: string;
  /** Clock time of the last update of the column. */
  #shownAt = -Infinity;

  /** `signal` is that of the operation. `status` is what a listing has just shown, if any. */
  constructor(session: Session, signal: AbortSignal, id: string, status: string | undefined) {
    this.#session = session;
    this.#signal = signal;
    this.#id = id;
    this.status = status;
    session.operations.setActivity(signal, () => this.#describe());
    this.#show();
  }

  /** Takes a new listing, or the reason why it failed. */
  update(listing: Listing | undefined, problem: string | undefined): void {
    const item = listing?.items.get(this.#id);
    const status = item ? (item.status ?? accepted) : this.status;
    const isChanged =
      (status ?? accepted) !== (this.status ?? accepted) ||
      (problem === undefined) !== (this.problem === undefined);
    this.status = status;
    this.problem = problem;
    this.#showIfDue(isChanged);
  }

  /** From now on, a port of the instance is awaited. */
  awaitPort(number: number, status: string | undefined): void {
    this.status = status;
    this.port = { number };
    this.#show();
  }

  /** Takes a try of the port that has failed. */
  portFailed(failed: FailedTry): void {
    if (!this.port) return;
    const isChanged = failed.message !== this.port.failed?.message;
    this.port = { ...this.port, failed };
    this.#showIfDue(isChanged);
  }

  #showIfDue(isChanged: boolean): void {
    const { clock } = this.#session.ctx;
    if (isChanged || clock.now() - this.#shownAt >= intervalMs) this.#show();
  }

  #show(): void {
    const { ctx, operations } = this.#session;
    this.#shownAt = ctx.clock.now();
    operations.show(this.#signal);
  }

  #describe(): string {
    const operation = this.#session.operations.of(this.#signal);
    const { port } = this;
    const what = `${this.#id} ${this.status ?? accepted}${port ? `, waiting for port ${port.number}` : ""}`;
    const lastTry = port?.failed ? ` (${port.failed.message})` : "";
    const text = `${what}${operation ? `, ${operation.time}` : ""}${lastTry}`;
    // A narrow terminal cuts off the end, so the text begins with what matters most.
    return this.problem ? `last look failed, trying again: ${text} (${this.problem})` : text;
  }
}
