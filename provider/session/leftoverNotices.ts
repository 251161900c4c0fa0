/** The notices about leftovers that a session prints. The create of an instance uses them. */
import type { TokenKind } from "../api/serviceConstants";
import type { ProviderContext } from "../context";

/** Names each leftover once in a session, and several leftovers in one notice. */
export class LeftoverNotices {
  readonly #ctx: Pick<ProviderContext, "messages" | "clock">;
  readonly #tokenKind: TokenKind;
  /** The ids of the leftovers that were in a notice. */
  readonly #reportedIds = new Set<string>();
  /** The descriptions of the leftovers for the next notice. */
  #leftovers: string[] = [];

  constructor(ctx: Pick<ProviderContext, "messages" | "clock">, tokenKind: TokenKind) {
    this.#ctx = ctx;
    this.#tokenKind = tokenKind;
  }

  /**
   * Names the leftovers of a resource. `text` describes one leftover, and `notice` makes a notice of several
   * descriptions. Leftovers that are reported at the same time, by creates that waited for the same listing, come
   * in one notice.
   */
  add(
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
    // The instances of a test token cost nothing, and the service removes them.
    if (this.#tokenKind === "live") this.#ctx.messages.warning(text);
    else this.#ctx.messages.info(text);
  }
}
