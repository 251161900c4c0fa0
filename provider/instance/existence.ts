/** Whether an instance of the state still exists, as far as this token's listings can tell (G3). */
import type { ListItem } from "../api/contract";
import { OperationFailed } from "../errors";
import { search, type SearchResult } from "../listing/search";
import type { Listing } from "../listing/listing";
import { originDifference, originFromState, type Origin } from "../origin";
import type { PropertyMap } from "../propertyValue";
import type { Session } from "../session/session";
import { acceptedKey, textOf } from "./state";

export type Existence =
  | { kind: "found"; item: ListItem }
  | { kind: "gone" }
  /** No evidence either way: what is in doubt, and why. */
  | { kind: "unproven"; doubt: "listing" | "tenant"; why: string };

/** What is known of an instance before it is looked for. */
export interface KnownInstance {
  /** Where it lives. */
  kept?: Origin | undefined;
  /** When it was accepted (ISO 8601), as long as its settling time may not be over. */
  acceptedAt?: string | undefined;
}

/** What the state knows of it. */
export function knownInstanceOf(outputs: PropertyMap | undefined): KnownInstance {
  return { kept: originFromState(outputs), acceptedAt: textOf(outputs, acceptedKey) };
}

/** Clock time until which a listing may lack an instance that was accepted then. */
export function settlingEnd(session: Session, acceptedAt: string | undefined): number {
  return acceptedAt === undefined ? 0 : session.settledBy(acceptedAt);
}

export async function existenceOf(
  session: Session,
  id: string,
  { kept, acceptedAt }: KnownInstance,
  signal: AbortSignal,
): Promise<{ existence: Existence; origin: Origin }> {
  const { origin } = await session.connection.open(signal);
  refuseElsewhere(id, kept, origin);
  const { pollIntervalMs } = session.settings;
  const settledAt = settlingEnd(session, acceptedAt);
  const result = await search(id, session.listings, { pollIntervalMs, settledAt }, signal);
  const isOfTenant = (items: ReadonlyMap<string, unknown>) =>
    isSameTenant(session, id, { kept, origin, items });
  return { existence: judge(session, result, isOfTenant), origin };
}

/** Whether a listing is of the tenant that the instance belongs to, as far as that can be told. */
export function isSameTenant(
  session: Session,
  id: string,
  {
    kept,
    origin,
    items,
  }: { kept: Origin | undefined; origin: Origin; items: ReadonlyMap<string, unknown> },
): boolean {
  if (!kept || kept.tokenHash === origin.tokenHash) return true;
  return session.state.showsAnother(items, id, kept.tokenHash);
}

/** What a search has come to; of another tenant's listing, an instance is never called gone. */
export function judge(
  session: Session,
  result: SearchResult,
  isOfTenant: (listed: ReadonlyMap<string, unknown>) => boolean,
): Existence {
  if (result.kind === "found") return result;
  if (result.kind === "unproven") {
    const why = whyNotComplete(session, result.incomplete);
    return { kind: "unproven", doubt: "listing", why };
  }
  if (result.kind === "unstable") {
    const why =
      "two listings in a row had no id in common, so the ids that the service lists are not to be relied on";
    return { kind: "unproven", doubt: "listing", why };
  }
  if (isOfTenant(result.proof.items)) return { kind: "gone" };
  const why =
    "the token is not the one it was last seen with, and its listing shows no other instance of this stack that was seen with that one, so it may be another tenant's. Use a token of the same tenant; if this is one, and the instance is really gone, remove it from the state with `pulumi state delete`";
  return { kind: "unproven", doubt: "tenant", why };
}

function whyNotComplete({ settings }: Session, { unreadable }: Listing): string {
  const what = "the service's listing was not complete";
  if (unreadable > 0) return `${what}: it holds an item that can't be read, which may be this one`;
  return settings.cursorParameter
    ? `${what}, even with compute:cursorParameter "${settings.cursorParameter}"`
    : `${what}: it shows 100 instances at the most unless compute:cursorParameter names a cursor that the service has`;
}

/** Rejects a state that tells of another service, token kind or account (G3). */
export function refuseElsewhere(id: string, kept: Origin | undefined, now: Origin): void {
  const difference = kept && originDifference(kept, now);
  if (!difference) return;
  throw new OperationFailed(
    `instance ${id} is out of reach of this configuration: ${difference}. Nothing was changed; run again with the configuration it was made with.`,
  );
}
