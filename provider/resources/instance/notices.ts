/** Notices that a run prints once, however many of its resources they are about. */
import type { LedgerRecord } from "../../ledger/record";
import type { TokenKind } from "../../api/documented";
import type { Messages } from "../../surroundings";
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
    private readonly messages: Pick<Messages, "info" | "warning">,
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
    this.messages.warning(pendingNotice(records, elsewhere, { scope, baseUrl: origin.baseUrl }));
  }

  /** Leftovers of resources whose creates share a listing are told together. */
  leftovers(about: About, items: readonly Leftover[], partial: boolean): void {
    if (partial && !this.#saidPartial) {
      this.#saidPartial = true;
      this.messages.info(partialNotice);
    }
    const unnamed = items.filter(({ id }) => !this.#named.has(id));
    if (unnamed.length === 0) return;
    for (const { id } of unnamed) this.#named.add(id);
    this.#leftovers.push({ about, items: unnamed });
    if (this.#leftovers.length === 1) setImmediate(() => this.#tellLeftovers());
  }

  #tellLeftovers(): void {
    const text = leftoversNotice(this.#leftovers.splice(0));
    // A sandbox's instances cost nothing and go by themselves.
    if (this.tokenKind === "live") this.messages.warning(text);
    else this.messages.info(text);
  }
}
