/** The notices about leftovers: instances that an earlier create of the same resource may have made. */
import type { TokenKind } from "../api/serviceConstants";
import type { ProviderContext } from "../context";

/** Names each leftover once in a session. */
export class LeftoverNotices {
  readonly #ctx: Pick<ProviderContext, "messages" | "clock">;
  readonly #tokenKind: TokenKind;
  readonly #reportedIds = new Set<string>();
  /** The descriptions of the leftovers for the next notice. */
  #descriptions: string[] = [];

  constructor(ctx: Pick<ProviderContext, "messages" | "clock">, tokenKind: TokenKind) {
    this.#ctx = ctx;
    this.#tokenKind = tokenKind;
  }

  /** Names leftovers, each described by its `text`. What creates that waited for one listing add is named in one notice. */
  add(
    leftovers: readonly { id: string; text: string }[],
    noticeOf: (descriptions: readonly string[]) => string,
  ): void {
    const unreported = leftovers.filter(({ id }) => !this.#reportedIds.has(id));
    if (unreported.length === 0) return;
    for (const { id } of unreported) this.#reportedIds.add(id);
    const isFirst = this.#descriptions.length === 0;
    this.#descriptions.push(...unreported.map(({ text }) => text));
    if (isFirst) void this.#ctx.clock.sleep(0).then(() => this.#printNotice(noticeOf));
  }

  #printNotice(noticeOf: (descriptions: readonly string[]) => string): void {
    const text = noticeOf(this.#descriptions.splice(0));
    // The instances of a test token cost nothing, and the service removes them.
    if (this.#tokenKind === "live") this.#ctx.messages.warning(text);
    else this.#ctx.messages.info(text);
  }
}
