/** The notices about leftovers: instances that an earlier create of the same resource may have made. */
import type { Settings } from "../config/settings";
import type { ProviderContext } from "../context";

/** The part of a `Session` that the notices need. */
interface NoticeSession {
  ctx: Pick<ProviderContext, "messages" | "clock">;
  settings: Pick<Settings, "tokenKind">;
  /** Returns true for the first call with this subject. */
  isFirst(subject: string): boolean;
}

/** Names each leftover once in a session. */
export class LeftoverNotices {
  readonly #session: NoticeSession;
  /** The descriptions of the leftovers for the next notice. */
  #descriptions: string[] = [];

  constructor(session: NoticeSession) {
    this.#session = session;
  }

  /** Names leftovers, each described by its `text`. What creates that waited for one listing add is named in one notice. */
  add(
    leftovers: readonly { id: string; text: string }[],
    noticeOf: (descriptions: readonly string[]) => string,
  ): void {
    const unreported = leftovers.filter(({ id }) => this.#session.isFirst(`leftover ${id}`));
    if (unreported.length === 0) return;
    const isFirst = this.#descriptions.length === 0;
    this.#descriptions.push(...unreported.map(({ text }) => text));
    if (isFirst) void this.#session.ctx.clock.sleep(0).then(() => this.#printNotice(noticeOf));
  }

  #printNotice(noticeOf: (descriptions: readonly string[]) => string): void {
    const { ctx, settings } = this.#session;
    const text = noticeOf(this.#descriptions.splice(0));
    // The instances of a test token cost nothing, and the service removes them.
    if (settings.tokenKind === "live") ctx.messages.warning(text);
    else ctx.messages.info(text);
  }
}
