/** The public address of an ACTIVE instance. A service may list the status some seconds before the address, or give it none. */
import { isListedWithoutAddress } from "../evidence/poller";
import type { Session } from "../session/session";
import type { Instance } from "./instance";

/** What is said of an instance whose outputs come from a listing alone. */
export const noNetworksNotice =
  "networks, privateIpv4 and createdAt stay empty. A program that reads networks[0] fails in each run: use privateIpv4, or check the length.";

/** What is said of an instance whose address was awaited in vain. */
export const noAddressNotice =
  "the service lists no public address, although the status is ACTIVE, so ipv4 is empty. `pulumi refresh` records an address that comes later";

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
