/** Finds out whether an instance still exists. It counts as gone only if that is proven (G3). */
import type { ListItem } from "../api/contract";
import { OperationFailed } from "../errors";
import { search } from "../listing/search";
import type { Listing } from "../listing/listing";
import { originDifference, originFromState, type Origin } from "../origin";
import type { PropertyMap } from "../propertyValue";
import type { Session } from "../session/session";
import { acceptedKey, stringProperty } from "./state";

/** What a search for an instance proves. */
export type Existence =
  | { kind: "found"; item: ListItem }
  /** `items` are those of the last listing. */
  | { kind: "gone"; items: ReadonlyMap<string, ListItem> }
  /**
   * Nothing is proven: the listing failed, is not complete or has no stable ids ("listing"), or may be another tenant's
   * ("tenant").
   */
  | { kind: "unproven"; doubt: "listing" | "tenant"; why: string };

/** What is known of an instance before it is searched for. */
export interface KnownInstance {
  /** The service, token and account, according to the state or to a record of the ledger. */
  recordedOrigin: Origin | undefined;
  /** When the service accepted the instance (ISO 8601). Undefined if that is not known, or settling need not be awaited. */
  acceptedAt: string | undefined;
}

/** Reads from the outputs in the state what is known of an instance. */
export function knownInstanceOf(outputs: PropertyMap | undefined): KnownInstance {
  return {
    recordedOrigin: originFromState(outputs),
    acceptedAt: stringProperty(outputs, acceptedKey),
  };
}

/** Returns the clock time until which listings may lack an instance that was accepted at this date (ISO 8601). */
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
  const unproven = (doubt: "listing" | "tenant", why: string) =>
    ({ existence: { kind: "unproven", doubt, why }, origin }) as const;
  switch (result.kind) {
    case "found":
      return { existence: result, origin };
    case "unproven":
      return unproven("listing", whyNotComplete(session, result.incomplete));
    case "unstable":
      return unproven(
        "listing",
        "two listings in a row had no id in common, so the ids in the service's listings can't be relied on",
      );
    case "gone": {
      const { items } = result.proof;
      if (isSameTenant(session, id, items, recordedOrigin, origin))
        return { existence: { kind: "gone", items }, origin };
      return unproven(
        "tenant",
        "this listing may be another tenant's, because the instance was last seen with another token, and the listing shows no other instance that this run knows to have been seen with that token. Use a token of the instance's tenant. If you already do, and the instance is really gone, remove the instance from the state with `pulumi state delete`",
      );
    }
  }
}

/**
 * Whether a listing is of the tenant that the instance belongs to. That is so if the token is the recorded one, if no
 * token is recorded (as after an import), or if the listing shows another instance that was seen with the recorded token.
 */
export function isSameTenant(
  { state }: Session,
  id: string,
  listed: ReadonlyMap<string, unknown>,
  recorded: Origin | undefined,
  configured: Origin,
): boolean {
  return (
    recorded === undefined ||
    recorded.tokenHash === configured.tokenHash ||
    state.showsAnother(listed, id, recorded.tokenHash)
  );
}

function whyNotComplete({ settings }: Session, { unreadable }: Listing): string {
  const summary = "the service's listing was not complete";
  if (unreadable > 0)
    return `${summary}: it holds an item that can't be read, which may be this instance`;
  return settings.cursorParameter
    ? `${summary}, even with compute:cursorParameter "${settings.cursorParameter}"`
    : `${summary}: it shows at most 100 instances of each status. If the service's list has a cursor parameter, set compute:cursorParameter to its name`;
}

/** Says which other service, token kind or account than the configured one is recorded. Undefined if none is. */
export function differenceFrom(
  recorded: Origin | undefined,
  configured: Origin,
): string | undefined {
  return recorded && originDifference(recorded, configured);
}

/** @throws OperationFailed if the recorded origin has another service, token kind or account than the configured one */
export function refuseElsewhere(
  id: string,
  recorded: Origin | undefined,
  configured: Origin,
): void {
  const difference = differenceFrom(recorded, configured);
  if (!difference) return;
  throw new OperationFailed(
    `instance ${id} is out of reach of this configuration: ${difference}. Nothing was changed. Run again with the configuration that the instance was created with.`,
  );
}
