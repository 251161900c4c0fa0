/** Compares the instances that services list with the states of all stacks of the backend. */
import { discardCommand, importCommand, stateDeleteCommand } from "../advice";
import type { ListItem } from "../api/contract";
import { isSamePlace, originDifference, type Origin } from "../origin";
import { instanceToken } from "../pulumiNames";
import type { RecordedCreate } from "./discard";
import type { Resource, StackState } from "./pulumi";
import type { ServiceListing } from "./service";

/** An instance that a service lists, and the resources that manage it. */
export interface ListedInstance {
  service: ServiceListing;
  item: ListItem;
  managers: Resource[];
}

/** What services listed and the states held at about the same time, and how the two differ. */
export type Comparison = ReturnType<typeof compare>;

/**
 * Compares listings with states. The states have to be read after the listings, so that they hold each listed instance
 * whose create was saved by then.
 */
export function compare(services: readonly ServiceListing[], states: readonly StackState[]) {
  // Several tokens may be of one tenant and list the same instances, so an instance is known by its place and its id.
  const keyOf = ({ baseUrl, tokenKind }: Origin, id: string) => `${baseUrl} ${tokenKind} ${id}`;
  const listed = new Map<string, ListedInstance>();
  for (const service of services) {
    for (const item of service.listing.items.values()) {
      const key = keyOf(service.origin, item.id);
      if (!listed.has(key)) listed.set(key, { service, item, managers: [] });
    }
  }
  /** The instances of all stacks. */
  const instances = states
    .flatMap(({ resources }) => resources)
    .filter(({ type, id }) => type === instanceToken && id !== "");
  /** The instances in stacks that are missing from the listing of their service. */
  const missing = new Map<Resource, ServiceListing>();
  /** The instances whose state names no service, or one, a token kind or an account that was not listed, with the reason. */
  const notComparable = new Map<Resource, string>();
  for (const instance of instances.filter(({ external }) => !external)) {
    const { id } = instance;
    const possible = services.filter(({ origin }) => !originDifference(instance.origin, origin));
    const lister = possible.find(({ listing }) => listing.items.has(id));
    // Another token may be of another tenant.
    const service =
      possible.find(({ origin }) => origin.tokenHash === instance.origin?.tokenHash) ?? possible[0];
    if (lister) listed.get(keyOf(lister.origin, id))?.managers.push(instance);
    else if (service && instance.origin) missing.set(instance, service);
    else {
      const difference = services[0] && originDifference(instance.origin, services[0].origin);
      notComparable.set(instance, difference ?? "its state does not say where it lives");
    }
  }
  const all = [...listed.values()];
  // Pulumi keeps a pending create that a later run has continued, until `pulumi refresh --clear-pending-creates`.
  const isContinued = (create: Resource) =>
    create.name !== undefined &&
    all.some(
      ({ item, managers }) =>
        item.name === create.name && managers.some((it) => isSameResource(it, create)),
    );
  const pending = states.flatMap((it) => it.pending).filter((it) => !isContinued(it));
  return { states, instances, pending, listed: all, missing, notComparable };
}

/** Whether the two are the same resource of the same stack. */
export function isSameResource(one: Resource, other: Resource): boolean {
  return one.stack === other.stack && one.urn === other.urn;
}

/**
 * Looks for another account's stack or a pending create that explains the instance, which no stack manages. `note` says
 * what may have made the instance, and how the instance gets into a stack. `urn` is that of the pending create. `isOpen`
 * means that the instance may be managed all the same.
 */
export function explainUnmanaged(
  { service: { origin }, item: { id, name } }: Pick<ListedInstance, "service" | "item">,
  { instances, pending }: Pick<Comparison, "instances" | "pending">,
  creates: readonly RecordedCreate[],
): { note: string; urn?: string; isOpen?: boolean } | undefined {
  for (const held of instances.filter((it) => it.id === id && !it.external)) {
    if (!held.origin || !isSamePlace(held.origin, origin)) continue;
    // It is the same instance if both accounts are users of one tenant.
    const difference = originDifference(held.origin, origin);
    return {
      note: `stack ${held.stack} has an instance with this id: ${difference}`,
      isOpen: true,
    };
  }
  const takeOver = (resource: { urn: string; provider?: string | undefined }) => {
    const held = instances.find(({ urn }) => urn === resource.urn);
    const drop = held
      ? `\`${stateDeleteCommand(resource.urn)}\` (which drops ${held.id} from the state of ${held.stack}, and lets it run), then `
      : "";
    return `${drop}\`${importCommand(resource, id)}\``;
  };
  const isNamed = (it: { name?: string | undefined }) => name !== undefined && it.name === name;
  const records = creates.filter(({ record }) => isSamePlace(record, origin));
  const create =
    records.find(({ record }) => record.id === id) ??
    records.find(({ record }) => !record.id && isNamed(record) && !record.before.includes(id));
  if (create) {
    const { record, isHere, owner } = create;
    const { urn, stage, stateless } = record;
    if (owner === "alive")
      return { urn, isOpen: true, note: `a run may be creating it right now for ${urn}` };
    // An engine was sent the id of a create in the stage `replied`, and may have saved it. A stateless create has no stack.
    const isResumed = stage !== "replied" && !stateless;
    const how = isResumed
      ? `the next \`pulumi up\`${isHere ? "" : " with another state backend"} takes it over, or says what to do. If the program no longer has that resource, \`${discardCommand(record.key)}\` forgets the create`
      : `to take it over: ${takeOver(record)}`;
    const why = record.id
      ? `an earlier run created it for ${urn}`
      : `it has the name of a pending create of ${urn}`;
    return { urn, note: `${why}; ${how}` };
  }
  const isRecorded = (urn: string) =>
    creates.some(({ isHere, record }) => isHere && record.urn === urn);
  const sameNamed = pending.filter((it) => isNamed(it) && !isRecorded(it.urn));
  if (!sameNamed[0]) return undefined;
  const ways = sameNamed.map(takeOver).join(", or ");
  const note = `it has the name of a pending create; if that create made it, take it over: ${ways}`;
  return { urn: sameNamed[0].urn, note };
}
