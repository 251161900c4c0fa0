/** The public address of an ACTIVE instance. A service may list the status some seconds before the address, or give it none. */
import { pageAt } from "../advice";
import { isListedWithoutAddress } from "../evidence/poller";
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

/** Whether the instance is ACTIVE, and no listing has shown its public address. */
export function lacksAddress({ status, ipv4 }: Instance): boolean {
  return status === "ACTIVE" && ipv4 === undefined;
}

/**
 * Whether the instance lacks its address, and may still get it. If the one that it replaces has none, it may not if another
 * finished instance has been listed without one from the session's first listing on: then that is usual here.
 */
export function isAddressDue(
  { listings, engine, state }: Pick<Session, "listings" | "engine" | "state">,
  instance: Instance,
): boolean {
  if (!lacksAddress(instance)) return false;
  if (engine.resource(instance.urn).instance?.ipv4 !== undefined) return true;
  const { first, latest } = listings;
  const isUsual = [...(first?.items.values() ?? [])].some(
    (item) =>
      isListedWithoutAddress(item) &&
      isListedWithoutAddress(latest?.items.get(item.id)) &&
      !state.unfinished.has(item.id),
  );
  return !isUsual;
}
