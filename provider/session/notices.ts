import type { TokenKind } from "../api/serviceConstants";
import type { ProviderContext } from "../context";

/** Prints each notice once a run, however many of its resources it is about. */
export class Notices {
  readonly #ctx: Pick<ProviderContext, "messages" | "clock">;
  readonly #tokenKind: TokenKind;
  readonly #reportedIds = new Set<string>();
  #leftovers: string[] = [];
  #hasPending = false;
  #hasPartial = false;

  constructor(ctx: Pick<ProviderContext, "messages" | "clock">, tokenKind: TokenKind) {
    this.#ctx = ctx;
    this.#tokenKind = tokenKind;
  }

  /** Pending creates of earlier runs. */
  pending(text: string): void {
    if (this.#hasPending) return;
    this.#hasPending = true;
    this.#ctx.messages.warning(text);
  }

  /** A baseline that was not complete. */
  partialListing(text: string): void {
    if (this.#hasPartial) return;
    this.#hasPartial = true;
    this.#ctx.messages.info(text);
  }

  /** Leftovers of one resource. Those of resources whose creates share a listing come in one notice. */
  leftovers(
    found: readonly { id: string; text: string }[],
    notice: (texts: readonly string[]) => string,
  ): void {
    const unreported = found.filter(({ id }) => !this.#reportedIds.has(id));
    if (unreported.length === 0) return;
    for (const { id } of unreported) this.#reportedIds.add(id);
    const isFirst = this.#leftovers.length === 0;
    this.#leftovers.push(...unreported.map(({ text }) => text));
    if (isFirst) void this.#ctx.clock.sleep(0).then(() => this.#printLeftovers(notice));
  }

  #printLeftovers(notice: (texts: readonly string[]) => string): void {
    const text = notice(this.#leftovers.splice(0));
    // Instances of a sandbox cost nothing, and the service removes them.
    if (this.#tokenKind === "live") this.#ctx.messages.warning(text);
    else this.#ctx.messages.info(text);
  }
}
