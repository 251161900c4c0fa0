/** Notices that a run prints once, however many of its resources they are about. */
import type { LedgerRecord } from "../ledger/record";
import type { TokenKind } from "../api/serviceConstants";
import type { ProviderContext } from "../context";
import {
  leftoversNotice,
  partialNotice,
  pendingNotice,
  type About,
  type LeftoversOf,
} from "./messages";
import type { Leftover, Order } from "./protocol";

export class Notices {
  #saidPending = false;
  #saidPartial = false;
  readonly #named = new Set<string>();
  #leftovers: LeftoversOf[] = [];

  constructor(
    private readonly ctx: Pick<ProviderContext, "messages" | "clock">,
    private readonly tokenKind: TokenKind,
  ) {}

  /** Pending creates of earlier runs: told by the first create that finds any. */
  pending(
    records: readonly LedgerRecord[],
    elsewhere: number,
    { scope, origin }: Pick<Order, "scope" | "origin">,
  ): void {
    if (this.#saidPending) return;
    this.#saidPending = true;
    this.ctx.messages.warning(
      pendingNotice(records, elsewhere, { scope, baseUrl: origin.baseUrl }),
    );
  }

  /** Leftovers of resources whose creates share a listing are told together. */
  leftovers(about: About, items: readonly Leftover[], partial: boolean): void {
    if (partial && !this.#saidPartial) {
      this.#saidPartial = true;
      this.ctx.messages.info(partialNotice);
    }
    const unnamed = items.filter(({ id }) => !this.#named.has(id));
    if (unnamed.length === 0) return;
    for (const { id } of unnamed) this.#named.add(id);
    this.#leftovers.push({ about, items: unnamed });
    if (this.#leftovers.length === 1) void this.ctx.clock.sleep(0).then(() => this.#tell());
  }

  #tell(): void {
    const { messages } = this.ctx;
    const text = leftoversNotice(this.#leftovers.splice(0));
    // A sandbox's instances cost nothing and go by themselves.
    if (this.tokenKind === "live") messages.warning(text);
    else messages.info(text);
  }
}
