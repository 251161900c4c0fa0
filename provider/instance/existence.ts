/** Finds out whether an instance still exists. It counts as gone only if that is proven (G3). */
import type { ListItem } from "../api/contract";
import { OperationFailed } from "../errors";
import { search, type SearchResult } from "../listing/search";
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

/** An instance, and what the state or a record of the ledger knows of it. */
export interface KnownInstance {
  id: string;
  /** The service, token and account that it was last seen with. */
  origin: Origin | undefined;
  /** When the service accepted it (ISO 8601). Undefined if that is not known, or settling need not be awaited. */
  acceptedAt: string | undefined;
}

/** Reads from the outputs in the state what is known of an instance. */
export function knownInstance(id: string, outputs: PropertyMap | undefined): KnownInstance {
  const acceptedAt = stringProperty(outputs, acceptedKey);
  return { id, origin: originFromState(outputs), acceptedAt };
}

/** Returns the clock time until which listings may lack the instance although it exists. */
export function settlingEnd(
  session: Session,
  { acceptedAt }: Pick<KnownInstance, "acceptedAt">,
): number {
  return acceptedAt === undefined ? 0 : session.settledBy(acceptedAt);
}

/**
 * Searches for the instance in the listings that all operations share. `origin` is that of the listings.
 *
 * @throws OperationFailed if the instance lives elsewhere or the token is refused, RequestError if a request
 *   fails, and the reason of `signal`.
 */
export async function existenceOf(
  session: Session,
  instance: KnownInstance,
  signal: AbortSignal,
): Promise<Existence & { origin: Origin }> {
  const { origin } = await session.connection.open(signal);
  refuseElsewhere(instance, origin);
  const { pollIntervalMs } = session.settings;
  const times = { pollIntervalMs, settledAt: settlingEnd(session, instance) };
  const result = await search(instance.id, session.listings, times, signal);
  if (result.kind === "found") return { ...result, origin };
  const isGone = result.kind === "gone";
  if (isGone && isSameTenant(session, instance, result.proof.items, origin)) {
    return { kind: "gone", items: result.proof.items, origin };
  }
  const doubt = isGone ? "tenant" : "listing";
  return { kind: "unproven", doubt, why: whyUnproven(session, result), origin };
}

/**
 * Whether a listing is of the tenant that the instance belongs to. That is so if the token is the recorded one, if no
 * token is recorded (as after an import), or if the listing shows another instance that was seen with the recorded token.
 */
export function isSameTenant(
  { state }: Session,
  { id, origin }: KnownInstance,
  listed: ReadonlyMap<string, unknown>,
  { tokenHash }: Origin,
): boolean {
  if (origin === undefined || origin.tokenHash === tokenHash) return true;
  return state.showsAnother(listed, id, origin.tokenHash);
}

/** Says why the listings do not prove whether the instance exists. */
function whyUnproven(
  { cursorParameter, settings }: Session,
  result: Exclude<SearchResult, { kind: "found" }>,
): string {
  if (result.kind === "gone") {
    return "this listing may be another tenant's, because the instance was last seen with another token, and the listing shows no other instance that this run knows to have been seen with that token. Use a token of the instance's tenant. If you already do, and the instance is really gone, remove the instance from the state with `pulumi state delete`";
  }
  if (result.kind === "unstable") {
    return "two listings in a row had no id in common, so the ids in the service's listings can't be relied on";
  }
  const summary = "the service's listing was not complete";
  const { unreadable, unreadableWhy } = result.incomplete;
  if (unreadable > 0) {
    const why = unreadableWhy === undefined ? "" : ` (${unreadableWhy})`;
    return `${summary}: it holds an item that can't be read${why}, which may be this instance`;
  }
  if (cursorParameter) return `${summary}, even with compute:cursorParameter "${cursorParameter}"`;
  return settings.cursorParameter
    ? `${summary}: it shows at most 100 instances of each status, and this run no longer uses compute:cursorParameter "${settings.cursorParameter}", which did not lead to all pages`
    : `${summary}: it shows at most 100 instances of each status. If the service's list has a cursor parameter, set compute:cursorParameter to its name`;
}

/** Says that the instance still exists, or why this is not known. */
export function describeExistence(
  session: Session,
  instance: KnownInstance,
  existence: Exclude<Existence, { kind: "gone" }>,
): string {
  if (existence.kind === "unproven") {
    return `whether instance ${instance.id} still exists can't be told (${existence.why})`;
  }
  const billed = isBilled(session, instance) ? " and is billed" : "";
  return `instance ${instance.id} still exists${billed}`;
}

/** Whether the instance costs money. Its recorded token kind decides, or the configured one if none is recorded. */
export function isBilled({ settings }: Session, { origin }: KnownInstance): boolean {
  return (origin ?? settings).tokenKind === "live";
}

/** @throws OperationFailed if the recorded origin has another service, token kind or account than the configured one */
export function refuseElsewhere({ id, origin }: KnownInstance, configured: Origin): void {
  const difference = originDifference(origin, configured);
  if (!difference) return;
  throw new OperationFailed(
    `instance ${id} is out of reach of this configuration: ${difference}. Nothing was changed. Run again with the configuration that the instance was created with.`,
  );
}
