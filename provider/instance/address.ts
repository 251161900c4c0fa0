/** What an accepted instance still lacks. A service may list the status some seconds before the address, or give it none. */
import { pageAt } from "../advice";
import type { ListItem } from "../api/contract";
import type { Report } from "../errors";
import type { Session } from "../session/session";
import type { Instance } from "./instance";

/** What is said of an instance whose outputs come from a listing alone. */
export const noNetworksNotice = `networks, privateIpv4 and createdAt stay empty. More: ${pageAt("instance.md#outputs")}`;

/** What is said of an instance whose address was awaited in vain. */
export const noAddressFinding: Report = {
  own: "the service lists no public address",
  shared: [
    ", although the status is ACTIVE, so ipv4 is empty. `pulumi refresh` records an address that comes later",
  ],
};

/** How many poll intervals an address is awaited where no other instance has one. */
const fewIntervals = 5;

/** What a listed instance lacks until it is ready. */
export interface Missing {
  /** How it is listed: "OFFLINE". */
  readonly is: string;
  /** How long it must have been listed with this status, in milliseconds, until that counts. */
  readonly countsAfterMs: number;
}

/** The part of a session that says what addresses are usual. */
type AddressFacts = Pick<Session, "engine" | "listings" | "poller" | "settings" | "state">;

/** Returns what an instance that is listed with this status lacks. Only one that is ACTIVE with an address lacks nothing. */
export function missingOf(
  session: AddressFacts,
  status: string,
  instance: Instance,
): Missing | undefined {
  const { settlingMs, pollIntervalMs } = session.settings;
  if (status === "PROVISIONING") return { is: status, countsAfterMs: Infinity };
  if (status !== "ACTIVE") return { is: status, countsAfterMs: settlingMs };
  if (instance.ipv4 !== undefined) return undefined;
  const fewMs = Math.min(settlingMs, fewIntervals * pollIntervalMs);
  const countsAfterMs = isAddressUnusual(session, instance) ? fewMs : settlingMs;
  return { is: "ACTIVE without an address", countsAfterMs };
}

const isBare = (item: ListItem | undefined) =>
  item?.status === "ACTIVE" && item.ipv4_public === undefined;

/**
 * Whether no other ACTIVE instance has an address, at least one of them is finished, and the instance that this one replaces had none.
 * An instance that this session has waited for is finished once it has been ACTIVE for the settling time. Any other instance is
 * finished if it was ACTIVE without an address in the session's first listing.
 */
function isAddressUnusual(
  { engine, listings: { first, latest }, poller, settings, state }: AddressFacts,
  { id, urn }: Instance,
): boolean {
  if (!latest?.complete || engine.resource(urn).before?.ipv4 !== undefined) return false;
  const others = [...latest.items.values()].filter(
    (item) => item.id !== id && item.status === "ACTIVE",
  );
  const isFinished = (item: ListItem) =>
    state.unfinished.has(item.id)
      ? poller.listedMs(item.id) >= settings.settlingMs
      : isBare(first?.items.get(item.id));
  return others.every(isBare) && others.some(isFinished);
}
