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

/** What the services listed and the states held at about the same time, and how the two differ. */
export interface Look extends Comparison<ServiceListing> {
  stacks: BackendStacks;
  instances: readonly StackInstance[];
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

/** How the listings of services and the instances of stacks differ. */
export interface Comparison<S> {
  managed: (Listed & { resources: readonly Resource[] })[];
  /** The listed instances that no stack manages. */
  unmanaged: { service: S; item: ListItem }[];
  /** The instances in stacks that are missing from the listing of their service. */
  missing: { service: S; instance: StackInstance }[];
  /** The instances whose state names no service, or one, a token kind or an account that was not listed. */
  notComparable: (Resource & { id: string; why: string })[];
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
  const notComparable: Comparison<S>["notComparable"] = [];
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

/** What may explain an instance: pending creates, and the instances of all stacks. */
export interface KnownCreates {
  /** From the ledgers of this machine, in which the provider records its creates. */
  creates: readonly RecordedCreate[];
  onlyInStates: readonly { urn: string; name?: string | undefined }[];
  instances: readonly StackInstance[];
}

/** The explanation of a listed instance that no stack manages. */
export interface Explanation {
  /** What may have made the instance, and how the instance gets into a stack. */
  note: string;
  /** The URN of the pending create that may have made the instance. */
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
