/** Compares the instances that services list with the states of all stacks of the backend. */
import { importAs } from "../provider/advice";
import type { ListItem } from "../provider/api/contract";
import { isNamed } from "../provider/evidence/witness";
import type { LedgerRecord } from "../provider/ledger/record";
import { isSameOrigin, originDifference, type Origin } from "../provider/origin";
import { isOfStack, stackOf } from "../provider/urn";
import { settleAdvice, type RecordedCreate } from "./creates";
import { isInstance, type Resource, type StackState } from "./pulumi";
import type { ServiceListing } from "./listings";

/** An instance that a service lists, and the resources that manage it. */
export interface ListedInstance {
  service: ServiceListing;
  item: ListItem;
  managers: Resource[];
}

/** Whether a state's instance is the one that is listed under its id at this place. Two services may use equal ids. */
export function isListedAt({ origin }: { origin: Origin | undefined }, place: Origin): boolean {
  return originDifference(origin, place, "") === undefined;
}

/** What the states of all stacks hold. */
export interface StackContents {
  states: readonly StackState[];
  /** The instances, also those that a program only reads (`external`). */
  instances: readonly Resource[];
  /** The pending creates, without those that a later run has surely continued. */
  pending: readonly Resource[];
}

/** What listings and states show together. */
export interface Comparison extends StackContents {
  listed: readonly ListedInstance[];
  /** The instances in stacks that are missing from the listing of their service. */
  missing: ReadonlyMap<Resource, ServiceListing>;
  /** The instances in no listing whose service, token kind or account was not listed or is not known, with the reason. */
  notComparable: ReadonlyMap<Resource, string>;
}

/**
 * Compares listings with states. Read the states after the listings: otherwise an instance that is created in between
 * would seem unmanaged.
 */
export function compare(
  services: readonly ServiceListing[],
  states: readonly StackState[],
): Comparison {
  // Several tokens may be of one tenant and list the same instances, so an instance is known by its place and its id.
  const keyOf = ({ baseUrl, tokenKind }: Origin, id: string) => `${baseUrl} ${tokenKind} ${id}`;
  const listed = new Map<string, ListedInstance>();
  for (const service of services) {
    for (const item of service.listing.items.values()) {
      const key = keyOf(service.origin, item.id);
      if (!listed.has(key)) listed.set(key, { service, item, managers: [] });
    }
  }
  const instances = states.flatMap(({ resources }) => resources).filter(isInstance);
  const missing = new Map<Resource, ServiceListing>();
  const notComparable = new Map<Resource, string>();
  for (const instance of instances.filter(({ external }) => !external)) {
    const { id } = instance;
    const differenceFrom = ({ origin, session }: ServiceListing) =>
      originDifference(instance.origin, origin, session.addressName);
    const reachable = services.filter((service) => differenceFrom(service) === undefined);
    const lister = reachable.find(({ listing }) => listing.items.has(id));
    // The recorded token first: another one may be of another tenant.
    const service =
      reachable.find(({ origin }) => origin.tokenHash === instance.origin?.tokenHash) ??
      reachable[0];
    if (lister) listed.get(keyOf(lister.origin, id))?.managers.push(instance);
    else if (service && instance.origin) missing.set(instance, service);
    else {
      const difference = services[0] && differenceFrom(services[0]);
      notComparable.set(instance, difference ?? "its state does not say where it lives");
    }
  }
  const all = [...listed.values()];
  // Pulumi keeps a pending create that a later run has continued, until `pulumi refresh --clear-pending-creates`. Only a
  // generated name shows that it was continued: the create of a replacement asks for the same explicit name again.
  const isContinued = ({ name, hasGeneratedName, ...create }: Resource) =>
    name !== undefined &&
    hasGeneratedName &&
    all.some(
      ({ item, managers }) =>
        isNamed(item.name, name) && managers.some((manager) => isSameResource(manager, create)),
    );
  const pending = states.flatMap((state) => state.pending).filter((create) => !isContinued(create));
  return { states, instances, pending, listed: all, missing, notComparable };
}

/** Returns the states that could not be read. Any of them may hold any instance. */
export function unreadableStates({ states }: StackContents): StackState[] {
  return states.filter(({ problem }) => problem !== undefined);
}

/** A resource of a stack. */
export interface StackResource {
  /** The name of the stack with organization and project. Undefined if it can't be told. */
  stack: string | undefined;
  urn: string;
}

/** Whether the two are the same resource of the same stack. */
export function isSameResource(one: StackResource, other: StackResource): boolean {
  return one.stack === other.stack && one.urn === other.urn;
}

/** A recorded create, with its resource. */
export interface CreateOfStack extends RecordedCreate, StackResource {}

/** Adds to each create the stack, which is one of those with these states, and the URN that the resource has there. */
export function withStacks(
  creates: readonly RecordedCreate[],
  states: readonly StackState[],
): CreateOfStack[] {
  return creates.map((create) => {
    const { urn } = create.record;
    const state = stateOfRecord(create.record, states);
    const [some] = state?.resources ?? [];
    // `stack rename` changes the start of each URN.
    const now = some ? urn.replace(stackOf(urn), stackOf(some.urn)) : urn;
    return { ...create, urn: now, stack: state?.stack };
  });
}

/** Stacks of two organizations can have the same URNs. The provider resource is one stack's, unless `state move` has copied it. */
function stateOfRecord(
  { urn, scope }: LedgerRecord,
  states: readonly StackState[],
): StackState | undefined {
  const ofUrn = states.filter(({ stack }) => isOfStack(urn, stack));
  const ofScope = states.filter(({ resources }) =>
    resources.some(({ id }) => id !== "" && id === scope),
  );
  const isOnly = new Set(ofUrn.map(({ stack }) => stack)).size === 1;
  const [only] = isOnly ? ofUrn : [];
  return ofScope.find((state) => ofUrn.includes(state)) ?? ofScope[0] ?? only;
}

/** What may have made an unmanaged instance. */
export interface Explanation {
  /** What may have made it, and how it gets into a stack. */
  note: string;
  /** The URN of the create in doubt. Undefined if a stack holds the id with another address or account. */
  urn?: string;
  /** Whether the instance may be managed all the same. */
  isOpen?: true;
  /** Whether the program made the name a secret. */
  isNameSecret?: boolean;
}

/** Explains an unmanaged instance by a create in doubt, or by a stack that holds the same id with another address or account. */
export function explainUnmanaged(
  { service: { origin, session }, item: { id, name } }: ListedInstance,
  { instances, pending }: StackContents,
  creates: readonly CreateOfStack[],
): Explanation | undefined {
  for (const held of instances.filter((instance) => instance.id === id && !instance.external)) {
    if (held.origin?.tokenKind !== origin.tokenKind) continue;
    // It is the same instance if both addresses are of one service, and both accounts are users of one tenant.
    const difference = originDifference(held.origin, origin, session.addressName);
    const note = `stack ${held.stack} has an instance with this id: ${difference}`;
    const ifOther =
      held.origin.baseUrl === origin.baseUrl
        ? ""
        : `. If both addresses are of one service, that stack manages it; if not, \`${importAs("<name>", id)}\` takes it over`;
    return { note: note + ifOther, isOpen: true, isNameSecret: held.isNameSecret };
  }
  const hasName = (wanted: string | undefined) => wanted !== undefined && isNamed(name, wanted);
  const records = creates.filter(({ record }) => isSameOrigin(record, origin));
  const create =
    records.find(({ record }) => record.id === id) ??
    records.find(({ record }) => !record.id && hasName(record.name) && !record.before.includes(id));
  if (create) {
    const { record, liveness, urn } = create;
    const isNameSecret = record.name === undefined;
    if (liveness === "alive") {
      const note = `a run may be creating it right now for ${urn}`;
      return { urn, isOpen: true, note, isNameSecret };
    }
    const why = record.id
      ? `an earlier run created it for ${urn}`
      : `it has the name of a create in doubt of ${urn}`;
    return { urn, note: `${why}; ${settleAdvice(create.stack)}`, isNameSecret };
  }
  const isRecorded = (other: Resource) =>
    creates.some((recorded) => recorded.isHere && isSameResource(recorded, other));
  const [sameNamed] = pending.filter((other) => hasName(other.name) && !isRecorded(other));
  if (!sameNamed) return undefined;
  const { urn, stack } = sameNamed;
  return { urn, note: `it has the name of a create in doubt; ${settleAdvice(stack)}` };
}
