/**
 * Finds out whether an instance still exists, as far as the listings of the configured token can tell.
 * An instance counts as gone only if that is proven ("nothing is forgotten on weak evidence", G3). Diff,
 * Create, Read, Update, Delete and the command `audit` use this file.
 */
import type { ListItem } from "../api/contract";
import { OperationFailed } from "../errors";
import { search, type SearchResult } from "../listing/search";
import type { Listing } from "../listing/listing";
import { originDifference, originFromState, type Origin } from "../origin";
import type { PropertyMap } from "../propertyValue";
import type { Session } from "../session/session";
import { acceptedKey, stringProperty } from "./state";

/** What a search for an instance proves. */
export type Existence =
  | { kind: "found"; item: ListItem }
  /** `items` are what the last listing has. */
  | { kind: "gone"; items: ReadonlyMap<string, ListItem> }
  /**
   * The search proves nothing. `doubt` says what is in doubt: "listing" if the listing failed, is not complete or has
   * no stable ids, and "tenant" if the listing may be another tenant's.
   */
  | { kind: "unproven"; doubt: "listing" | "tenant"; why: string };

/** What is known of an instance before it is searched for. */
export interface KnownInstance {
  /** The service, token and account of the instance, according to the state or to a record of the ledger. */
  recordedOrigin: Origin | undefined;
  /**
   * When the service accepted the instance (ISO 8601). Until the settling time after that is over, a listing may lack
   * the instance. Undefined if the date is not known, or if the settling time need not be awaited.
   */
  acceptedAt: string | undefined;
}

/** Reads from the outputs in the state what is known of an instance. */
export function knownInstanceOf(outputs: PropertyMap | undefined): KnownInstance {
  return {
    recordedOrigin: originFromState(outputs),
    acceptedAt: stringProperty(outputs, acceptedKey),
  };
}

/**
 * Returns the clock time until which listings may lack an instance that was accepted at this date (ISO
 * 8601). Returns 0 if the date is undefined.
 */
export function settlingEnd(session: Session, acceptedAt: string | undefined): number {
  return acceptedAt === undefined ? 0 : session.settledBy(acceptedAt);
}

/**
 * Searches for the instance in the listings that all operations share.
 *
 * @throws OperationFailed if the instance lives elsewhere or the token is refused, RequestError if a request
 *   fails, and the reason of `signal`.
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

/**
 * Whether a listing is of the tenant that the instance belongs to. That is so if the token is the recorded one, if no
 * token is recorded (as after an import), or if the listing shows another instance that was seen with the recorded token.
 */
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

/** Says what the result of a search proves. Another tenant's listing never proves that an instance is gone. */
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
        "two listings in a row had no id in common, so the ids in the service's listings can't be relied on";
      return { kind: "unproven", doubt: "listing", why };
    }
    case "gone": {
      const { items } = result.proof;
      if (isOfTenant(items)) return { kind: "gone", items };
      const why =
        "this listing may be another tenant's, because the instance was last seen with another token, and the listing shows no other instance that this run knows to have been seen with that token. Use a token of the instance's tenant. If you already do, and the instance is really gone, remove the instance from the state with `pulumi state delete`";
      return { kind: "unproven", doubt: "tenant", why };
    }
  }
}

/** Returns the reason why a listing is not complete, for messages. */
function whyNotComplete({ settings }: Session, { unreadable }: Listing): string {
  const summary = "the service's listing was not complete";
  if (unreadable > 0)
    return `${summary}: it holds an item that can't be read, which may be this instance`;
  return settings.cursorParameter
    ? `${summary}, even with compute:cursorParameter "${settings.cursorParameter}"`
    : `${summary}: it shows at most 100 instances of each status. If the service's list has a cursor parameter, set compute:cursorParameter to its name`;
}

/**
 * Stops an operation on an instance that lives elsewhere (nothing is forgotten on weak evidence: G3).
 *
 * @throws OperationFailed if the recorded origin has another service, token kind or account than the configured one
 */
export function refuseElsewhere(
  id: string,
  recordedOrigin: Origin | undefined,
  configuredOrigin: Origin,
): void {
  const difference = recordedOrigin && originDifference(recordedOrigin, configuredOrigin);
  if (!difference) return;
  throw new OperationFailed(
    `instance ${id} is out of reach of this configuration: ${difference}. Nothing was changed. Run again with the configuration that the instance was created with.`,
  );
}
