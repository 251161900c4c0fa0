/** Compares the instances that services list with the states of all stacks of the backend. */
import { discardCommand, importCommand, stateDeleteCommand } from "../advice";
import type { ListItem } from "../api/contract";
import type { Listing } from "../listing/listing";
import { isSamePlace, originDifference, type Origin } from "../origin";
import type { RecordedCreate } from "./discard";
import {
  type BackendStacks,
  type PendingOperation,
  readAllStates,
  type Resource,
  type StackInstance,
} from "./pulumi";
import type { ServiceListing } from "./service";

/** The fields of an instance that are printed. */
export type Listed = Pick<ListItem, "id" | "name" | "status">;
/** A listed instance, and the resources that manage it. */
export type Managed = Listed & { resources: readonly Resource[] };
/** An instance of a stack, and why it could not be compared with a listing. */
export type NotComparable = Resource & { id: string; why: string };

/** What the services listed and the states held at about the same time, and how the two differ. */
export interface Look extends Comparison<ServiceListing> {
  stacks: BackendStacks;
  /** The instances of all stacks. */
  instances: readonly StackInstance[];
  /** The creates that are pending in a state. */
  pending: readonly PendingOperation[];
}

/**
 * Reads the states after the listing, so that they hold each listed instance whose create was saved by then.
 *
 * @throws PulumiError if the stacks can't be listed.
 */
export async function look(
  services: readonly ServiceListing[],
  env: NodeJS.ProcessEnv,
): Promise<Look> {
  const stacks = await readAllStates(env);
  const instances = stacks.states.flatMap((state) => state.instances);
  const pending = stacks.states.flatMap((state) => state.pendingOperations);
  return { stacks, instances, pending, ...compare(services, instances) };
}

/** How the listings of services and the instances of stacks differ. `S` is the type of a service with its listing. */
export interface Comparison<S> {
  managed: Managed[];
  /** The listed instances that no stack manages. */
  unmanaged: { service: S; item: ListItem }[];
  /** The instances in stacks that are missing from the listing of their service. */
  missing: { service: S; instance: StackInstance }[];
  /** The instances whose state names no service, or a service, token kind or account that was not listed. */
  notComparable: NotComparable[];
}

/** Compares the listings of services with the instances of stacks. */
export function compare<S extends { origin: Origin; listing: Pick<Listing, "items"> }>(
  services: readonly S[],
  instances: readonly StackInstance[],
): Comparison<S> {
  // Several tokens may be of one tenant and list the same instances, so an instance is known by its place and its id.
  const keyOf = ({ baseUrl, tokenKind }: Origin, id: string) => `${baseUrl} ${tokenKind} ${id}`;
  const listed = new Map<string, { service: S; item: ListItem; resources: Resource[] }>();
  for (const service of services) {
    for (const item of service.listing.items.values()) {
      const key = keyOf(service.origin, item.id);
      if (!listed.has(key)) listed.set(key, { service, item, resources: [] });
    }
  }
  const missing: Comparison<S>["missing"] = [];
  const notComparable: NotComparable[] = [];
  for (const instance of instances.filter(({ external }) => !external)) {
    const { stack, urn, id, origin } = instance;
    const possible = services.filter(
      (it) => !origin || originDifference(origin, it.origin) === undefined,
    );
    const lister = possible.find(({ listing }) => listing.items.has(id));
    // Another token may be of another tenant.
    const service = possible.find((it) => it.origin.tokenHash === origin?.tokenHash) ?? possible[0];
    if (lister) listed.get(keyOf(lister.origin, id))?.resources.push({ stack, urn });
    else if (service && origin) missing.push({ service, instance });
    else {
      const difference = origin && services[0] && originDifference(origin, services[0].origin);
      const why = difference ?? "its state does not say where it lives";
      notComparable.push({ id, stack, urn, why });
    }
  }
  const all = [...listed.values()];
  return {
    managed: all
      .filter(({ resources }) => resources.length > 0)
      .map(({ item, resources }) => ({ ...fieldsOf(item), resources })),
    unmanaged: all.filter(({ resources }) => resources.length === 0),
    missing,
    notComparable,
  };
}

/** What is known of pending creates, and the instances of all stacks. */
export interface KnownCreates {
  /** The creates that are pending in a ledger of this machine, in which the provider records its creates. */
  creates: readonly RecordedCreate[];
  /** The creates that are pending in a state, but not in a ledger. */
  onlyInStates: readonly { urn: string; name?: string | undefined }[];
  instances: readonly StackInstance[];
}

/** What may explain a listed instance that no stack manages. */
export interface Explanation {
  /** What may have made the instance, and how the instance gets into a stack. */
  note: string;
  /** The URN of the pending create that has made the instance, or may have made it. */
  urn?: string;
  /** Whether the instance may be managed all the same. */
  isOpen?: boolean;
}

/** Looks for another account's stack or a pending create that explains the instance. */
export function explainUnmanaged(
  { id, name }: ListItem,
  origin: Origin,
  { creates, onlyInStates, instances }: KnownCreates,
): Explanation | undefined {
  for (const { stack, id: heldId, origin: held, external } of instances) {
    if (heldId !== id || external || !held || !isSamePlace(held, origin)) continue;
    // It is the same instance if both accounts are users of one tenant.
    const note = `stack ${stack} has an instance with this id: ${originDifference(held, origin)}`;
    return { note, isOpen: true };
  }
  const takeOver = (resource: Parameters<typeof importCommand>[0]) => {
    const held = instances.find(({ urn }) => urn === resource.urn);
    const drop = held
      ? `\`${stateDeleteCommand(resource.urn)}\` (which drops ${held.id} from the state of ${held.stack}, and lets it run), then `
      : "";
    return `${drop}\`${importCommand(resource, id)}\``;
  };
  const isNamed = (it: { name?: string | undefined }) => name !== undefined && it.name === name;
  const createsHere = creates.filter(({ record }) => isSamePlace(record, origin));
  const create =
    createsHere.find(({ record }) => record.id === id) ??
    createsHere.find(({ record }) => !record.id && isNamed(record) && !record.before.includes(id));
  if (create) {
    const { record, isHere, live } = create;
    const { urn, stage, stateless } = record;
    if (live) return { urn, isOpen: true, note: `a run may be creating it right now for ${urn}` };
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
  const sameNamed = onlyInStates.filter(isNamed);
  if (!sameNamed[0]) return undefined;
  const ways = sameNamed.map(takeOver).join(", or ");
  const note = `it has the name of a pending create; if that create made it, take it over: ${ways}`;
  return { urn: sameNamed[0].urn, note };
}

/** The fields of an instance that every report has. */
export function fieldsOf({ id, name = "", status = "" }: ListItem): Listed {
  return { id, name, status };
}
