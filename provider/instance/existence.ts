/** Whether an instance still exists, as far as this token's listings can tell (G3). */
import type { ListItem } from "../api/contract";
import { OperationFailed } from "../errors";
import { search, type SearchResult } from "../listing/search";
import type { Listing } from "../listing/listing";
import { originDifference, originFromState, type Origin } from "../origin";
import type { PropertyMap } from "../propertyValue";
import type { Session } from "../session/session";
import { acceptedKey, textOf } from "./state";

/** What a search for an instance proves. */
export type Existence =
  | { kind: "found"; item: ListItem }
  | { kind: "gone" }
  /** Nothing: in doubt is what the listings show, or whether they are of the right tenant. */
  | { kind: "unproven"; doubt: "listing" | "tenant"; why: string };

/** What is known of an instance before a search for it. */
export interface KnownInstance {
  /** Where it lives. */
  recordedOrigin: Origin | undefined;
  /** When it was accepted (ISO 8601), for as long as its settling time may not be over. */
  acceptedAt: string | undefined;
}

/** What the state knows of an instance. */
export function knownInstanceOf(outputs: PropertyMap | undefined): KnownInstance {
  return { recordedOrigin: originFromState(outputs), acceptedAt: textOf(outputs, acceptedKey) };
}

/** Clock time until which listings may lack an instance that was accepted at that date (ISO 8601). */
export function settlingEnd(session: Session, acceptedAt: string | undefined): number {
  return acceptedAt === undefined ? 0 : session.settledBy(acceptedAt);
}

/**
 * Searches the listings that all operations share.
 *
 * @throws OperationFailed if the instance lives elsewhere, and RequestError if a listing fails.
 */
export async function existenceOf(
  session: Session,
  id: string,
  { recordedOrigin, acceptedAt }: KnownInstance,
  signal: AbortSignal,
): Promise<{ existence: Existence; origin: Origin }> {
  const { origin } = await session.connection.open(signal);
  refuseElsewhere(id, recordedOrigin, origin);
  const { pollIntervalMs } = session.settings;
  const settledAt = settlingEnd(session, acceptedAt);
  const result = await search(id, session.listings, { pollIntervalMs, settledAt }, signal);
  const isOfTenant = (items: ReadonlyMap<string, unknown>) =>
    isSameTenant(session, id, { recordedOrigin, origin, items });
  return { existence: judgeSearch(session, result, isOfTenant), origin };
}

/** Whether a listing is of the instance's tenant: seen with the same token, or beside one that was. */
export function isSameTenant(
  session: Session,
  id: string,
  listed: {
    recordedOrigin: Origin | undefined;
    origin: Origin;
    items: ReadonlyMap<string, unknown>;
  },
): boolean {
  const { recordedOrigin, origin, items } = listed;
  if (!recordedOrigin || recordedOrigin.tokenHash === origin.tokenHash) return true;
  return session.state.showsAnother(items, id, recordedOrigin.tokenHash);
}

/** What the result of a search proves. In another tenant's listing, no instance is proven gone. */
function judgeSearch(
  session: Session,
  result: SearchResult,
  isOfTenant: (listed: ReadonlyMap<string, unknown>) => boolean,
): Existence {
  switch (result.kind) {
    case "found":
      return result;
    case "unproven": {
      const why = whyNotComplete(session, result.incomplete);
      return { kind: "unproven", doubt: "listing", why };
    }
    case "unstable": {
      const why =
        "two listings in a row had no id in common, so the ids that the service lists are not to be relied on";
      return { kind: "unproven", doubt: "listing", why };
    }
    case "gone": {
      if (isOfTenant(result.proof.items)) return { kind: "gone" };
      const why =
        "the token is not the one it was last seen with, and its listing shows no other instance of this stack that was seen with that one, so it may be another tenant's. Use a token of the same tenant; if this is one, and the instance is really gone, remove it from the state with `pulumi state delete`";
      return { kind: "unproven", doubt: "tenant", why };
    }
  }
}

function whyNotComplete({ settings }: Session, { unreadable }: Listing): string {
  const what = "the service's listing was not complete";
  if (unreadable > 0) return `${what}: it holds an item that can't be read, which may be this one`;
  return settings.cursorParameter
    ? `${what}, even with compute:cursorParameter "${settings.cursorParameter}"`
    : `${what}: it shows 100 instances at the most unless compute:cursorParameter names a cursor that the service has`;
}

/** @throws OperationFailed if the state tells of another service, token kind or account (G3). */
export function refuseElsewhere(id: string, recordedOrigin: Origin | undefined, now: Origin): void {
  const difference = recordedOrigin && originDifference(recordedOrigin, now);
  if (!difference) return;
  throw new OperationFailed(
    `instance ${id} is out of reach of this configuration: ${difference}. Nothing was changed; run again with the configuration it was made with.`,
  );
}
