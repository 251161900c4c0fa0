/**
 * Compares the instances that services list with the states of all stacks of the backend. `audit` and `import-plan`
 * use it.
 */
import { discardCommand, importCommand, stateDeleteCommand } from "../advice";
import type { ListItem } from "../api/contract";
import type { Listing } from "../listing/listing";
import { isSamePlace, originDifference, type Origin } from "../origin";
import type { RecordedCreate } from "./discard";
import { type BackendStacks, readAllStates, type StackInstance } from "./pulumi";
import type { ServiceListing } from "./service";

/** The fields of an instance that are printed. */
export type Listed = Pick<ListItem, "id" | "name" | "status">;
/** A resource of a stack. */
export type Resource = Pick<StackInstance, "stack" | "urn">;
/** A listed instance, and the resources that manage it. */
export type Managed = Listed & { resources: readonly Resource[] };
/** An instance of a stack, and why it could not be compared with a listing. */
export type NotComparable = Resource & { id: string; why: string };

/** What the services listed and the states held at about the same time, and how the two differ. */
export interface Look extends Comparison<ServiceListing> {
  services: readonly ServiceListing[];
  stacks: BackendStacks;
  instances: readonly StackInstance[];
}

/**
 * Reads the states after the listing, so that the states hold each instance whose create was saved by then.
 *
 * @throws PulumiError if the stacks can't be listed.
 */
export async function look(
  services: readonly ServiceListing[],
  env: NodeJS.ProcessEnv,
): Promise<Look> {
  const stacks = await readAllStates(env);
  const instances = stacks.states.flatMap((state) => state.instances);
  return { services, stacks, instances, ...compare(services, instances) };
}

/** How the listings of services and the instances of stacks differ. `S` is the type of a service with its listing. */
export interface Comparison<S> {
  /** The listed instances that a stack manages, with the resources that manage them. */
  managed: Managed[];
  /** The listed instances that no stack manages. */
  unmanaged: { service: S; item: ListItem }[];
  /** The instances in stacks that are missing from the listing of their service. */
  missing: { service: S; instance: StackInstance }[];
  /** The instances whose state names no service, or a service, token kind or account that was not listed. */
  notComparable: NotComparable[];
}

/** Compares the listings of services with the instances of stacks. `look` uses it. */
export function compare<S extends { origin: Origin; listing: Pick<Listing, "items"> }>(
  services: readonly S[],
  instances: readonly StackInstance[],
): Comparison<S> {
  const managingResources = new Map<ListItem, Resource[]>();
  const result: Comparison<S> = { managed: [], unmanaged: [], missing: [], notComparable: [] };
  for (const instance of instances.filter(({ external }) => !external)) {
    const { stack, urn, id, origin } = instance;
    const possibleServices = services.filter(
      (it) => !origin || originDifference(origin, it.origin) === undefined,
    );
    const item = possibleServices.map(({ listing }) => listing.items.get(id)).find(Boolean);
    // The service with the recorded token comes first, since another token may be of another tenant.
    const service =
      possibleServices.find((it) => it.origin.tokenHash === origin?.tokenHash) ??
      possibleServices[0];
    if (item) managingResources.set(item, [...(managingResources.get(item) ?? []), { stack, urn }]);
    else if (service && origin) result.missing.push({ service, instance });
    else {
      const difference = origin && services[0] && originDifference(origin, services[0].origin);
      const why = difference ?? "its state does not say where it lives";
      result.notComparable.push({ id, stack, urn, why });
    }
  }
  for (const [index, service] of services.entries()) {
    // Two tokens of one tenant list the same instances. Each instance counts once, for the earlier token.
    const earlier = services
      .slice(0, index)
      .filter(({ origin }) => originDifference(origin, service.origin) === undefined);
    // Two accounts may be users of one tenant, so an instance may be listed with both and recorded with one. Here only the
    // base URL and the token kind have to be the same.
    const samePlace = services.filter(({ origin }) => isSamePlace(origin, service.origin));
    const isManaged = (id: string) =>
      samePlace.some(({ listing }) => {
        const item = listing.items.get(id);
        return item !== undefined && managingResources.has(item);
      });
    for (const item of service.listing.items.values()) {
      const resources = managingResources.get(item);
      if (resources) result.managed.push({ ...fieldsOf(item), resources });
      else if (!isManaged(item.id) && !earlier.some(({ listing }) => listing.items.has(item.id))) {
        result.unmanaged.push({ service, item });
      }
    }
  }
  return result;
}

/**
 * If a stack has an instance with this id that was recorded with another account, says which stack. It is the listed
 * instance if both accounts are users of one tenant. Returns undefined if no stack has such an instance.
 */
export function findOfOtherAccount(
  { id }: ListItem,
  origin: Origin,
  instances: readonly StackInstance[],
): string | undefined {
  for (const { stack, id: recordedId, origin: recordedOrigin, external } of instances) {
    if (recordedId !== id || external) continue;
    if (!recordedOrigin || !isSamePlace(recordedOrigin, origin)) continue;
    return `stack ${stack} has an instance with this id: ${originDifference(recordedOrigin, origin)}`;
  }
  return undefined;
}

/** The pending creates in ledgers and states, and the instances of all stacks. */
export interface KnownCreates {
  /** The creates that are pending in a ledger of this machine, in which the provider records its creates. */
  creates: readonly RecordedCreate[];
  /** The creates that are pending in a state, but not in a ledger. */
  onlyInStates: readonly { urn: string; name?: string | undefined }[];
  instances: readonly StackInstance[];
}

/**
 * For an instance in no stack, says in `note` which pending create made the instance, or may have made it, and how the
 * instance gets into a stack. `urn` is the URN of that create's resource, and `isUnderWay` says whether the create's run may still be
 * working on it. Returns undefined if there is no such create.
 */
export function findCreator(
  { id, name }: ListItem,
  origin: Origin,
  { creates, onlyInStates, instances }: KnownCreates,
): { urn: string; isUnderWay: boolean; note: string } | undefined {
  const takeOverCommands = (resource: Parameters<typeof importCommand>[0]) => {
    const recorded = instances.find((it) => it.urn === resource.urn && !it.external);
    const dropCommand = recorded
      ? `\`${stateDeleteCommand(resource.urn)}\` (which drops ${recorded.id} from the state of ${recorded.stack}, and lets it run), then `
      : "";
    return `${dropCommand}\`${importCommand(resource, id)}\``;
  };
  const createsAtService = creates.filter(({ record }) => isSamePlace(record, origin));
  const isNamed = (it: { name?: string | undefined }) => name !== undefined && it.name === name;
  const create =
    createsAtService.find(({ record }) => record.id === id) ??
    createsAtService.find(
      ({ record }) => !record.id && isNamed(record) && !record.before.includes(id),
    );
  if (create) {
    const { record, isHere, live: isUnderWay } = create;
    const { urn, stage, stateless } = record;
    if (isUnderWay)
      return { urn, isUnderWay, note: `a run may be creating it right now for ${urn}` };
    const upAdvice = `the next \`pulumi up\`${isHere ? "" : " with another state backend"} takes it over, or says what to do. If the program no longer has that resource, \`${discardCommand(record.key)}\` forgets the create`;
    // `pulumi up` does not resume a create in the stage `replied`, since an engine was sent the id and may have saved it,
    // nor a stateless create, since it has no stack.
    const isResumed = stage !== "replied" && !stateless;
    const how = isResumed ? upAdvice : `to take it over: ${takeOverCommands(record)}`;
    const why = record.id
      ? `an earlier run created it for ${urn}`
      : `it has the name of a pending create of ${urn}`;
    return { urn, isUnderWay, note: `${why}; ${how}` };
  }
  const sameNamed = onlyInStates.filter(isNamed);
  const [first] = sameNamed;
  if (!first) return undefined;
  const ways = sameNamed.map(takeOverCommands).join(", or ");
  const note = `it has the name of a pending create; if that create made it, take it over: ${ways}`;
  return { urn: first.urn, isUnderWay: false, note };
}

/** Returns the fields of an instance that every report has. */
export function fieldsOf({ id, name = "", status = "" }: ListItem): Listed {
  return { id, name, status };
}
