/** Compares the instances that services list with the states of all stacks of the backend. */
import type { ListItem } from "../provider/api/contract";
import { originDifference, type Origin } from "../provider/origin";
import type { ServiceListing } from "./listings";
import type { StackState, StateResource } from "./state";
import { holderOf, isListedAt, type CreateInDoubt, type View } from "./view";

/** An instance that a service lists, and the resources that manage it. */
export interface ComparedInstance {
  readonly service: ServiceListing;
  readonly item: ListItem;
  readonly managers: StateResource[];
}

/** What listings and states show together. No state has the instance of a create in doubt. */
export interface Comparison extends View {
  readonly listed: readonly ComparedInstance[];
  /** The instances in stacks that are missing from the listing of their service. */
  readonly missing: ReadonlyMap<StateResource, ServiceListing>;
  /** The instances in no listing whose service, token kind or account was not listed or is not known, with the reason. */
  readonly notComparable: ReadonlyMap<StateResource, string>;
}

/** Compares the listings with the states. */
export function compare(view: View): Comparison {
  const { services, held, doubts } = view;
  // Several tokens may be of one tenant and list the same instances, so an instance is known by its place and its id.
  const keyOf = ({ baseUrl, tokenKind }: Origin, id: string) => `${baseUrl} ${tokenKind} ${id}`;
  const listed = new Map<string, ComparedInstance>();
  for (const service of services) {
    for (const item of service.listing.items.values()) {
      const key = keyOf(service.origin, item.id);
      if (!listed.has(key)) listed.set(key, { service, item, managers: [] });
    }
  }
  const missing = new Map<StateResource, ServiceListing>();
  const notComparable = new Map<StateResource, string>();
  for (const instance of [...held.values()].flat()) {
    const { id, origin } = instance;
    const reachable = services.filter((service) => isListedAt(instance, service.origin));
    const lister = reachable.find(({ listing }) => listing.items.has(id));
    // The recorded token first: another one may be of another tenant.
    const service =
      reachable.find((one) => one.origin.tokenHash === origin?.tokenHash) ?? reachable[0];
    if (lister) listed.get(keyOf(lister.origin, id))?.managers.push(instance);
    else if (service && origin) missing.set(instance, service);
    else notComparable.set(instance, whyElsewhere(instance, services[0]));
  }
  const isHeld = (doubt: CreateInDoubt) =>
    services.some(({ listing: { items }, origin }) => holderOf(doubt, held, { items, origin }));
  const inDoubt = doubts.filter((doubt) => !isHeld(doubt));
  return { ...view, listed: [...listed.values()], missing, notComparable, doubts: inDoubt };
}

/** Says why the listing of this service tells nothing of an instance. */
export function whyElsewhere(
  { origin }: StateResource,
  service: ServiceListing | undefined,
): string {
  const difference =
    service && originDifference(origin, service.origin, service.session.addressName);
  return difference ?? "its state does not say where it lives";
}

/** Returns the states that could not be read. Any of them may hold any instance. */
export function unreadableStates({ states }: View): StackState[] {
  return states.filter(({ problem }) => problem !== undefined);
}
