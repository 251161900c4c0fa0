/**
 * What the commands see: what services list, what the states of all stacks have, and what this machine's ledgers say. `audit` and
 * `settle` have one answer to the question which create has made an instance.
 */
import type { ListItem } from "../provider/api/contract";
import type { Clock } from "../provider/clock";
import { isNamed } from "../provider/evidence/witness";
import { isSameOrigin, originDifference, type Origin } from "../provider/origin";
import { instanceToken } from "../provider/pulumi/names";
import { isOfStack, logicalName, stackOf, typesOf } from "../provider/pulumi/urn";
import type { ServiceListing } from "./listings";
import type { RecordedCreate } from "./records";
import {
  isInstance,
  peersOf,
  scopesOf,
  withPending,
  type PendingCreate,
  type StackState,
  type StateResource,
} from "./state";

/** The instances in states, by id. Two services may use equal ids. */
export type HeldInstances = ReadonlyMap<string, readonly StateResource[]>;

/** What was seen. */
export interface View {
  readonly services: readonly ServiceListing[];
  readonly states: readonly StackState[];
  readonly held: HeldInstances;
  readonly doubts: readonly CreateInDoubt[];
  /** The clock time when the states had been read: before that, each create that only a state knows was sent. */
  readonly readAt: number;
}

/** A create whose instance may be in no state. */
export interface CreateInDoubt {
  /** The stack of the resource. Undefined if no state shows which. */
  readonly stack: string | undefined;
  readonly urn: string;
  /** The name it asked for. Undefined if that is a secret. */
  readonly name: string | undefined;
  readonly isGenerated: boolean;
  /** What the state says of it. Undefined if the state was saved over, or was never saved. */
  readonly pending: PendingCreate | undefined;
  /** What a ledger on this machine says of it. */
  readonly record: RecordedCreate | undefined;
  /** Where it may have been sent: as its record says or, without one, where the state's instances of its provider live. */
  readonly places: readonly Origin[];
}

/**
 * Makes a view of these listings, states and records. Read the states after the listings: otherwise an instance that
 * is created in between would seem to be in no state.
 */
export function viewOf(
  services: readonly ServiceListing[],
  states: readonly StackState[],
  records: readonly RecordedCreate[],
  clock: Clock,
): View {
  const held = states.flatMap(({ resources }) => resources.filter(isInstance));
  // Other instances of a token show that a listing is of that token's tenant (G3).
  for (const { session } of services)
    for (const { id, origin } of held) session.noteShown({ id, origin });
  return {
    services,
    states,
    held: Map.groupBy(held, ({ id }) => id),
    doubts: doubtsOf(states, records),
    readAt: clock.now(),
  };
}

/** Brings together what ledgers and states say of the same create. */
export function doubtsOf(
  states: readonly StackState[],
  records: readonly RecordedCreate[],
): CreateInDoubt[] {
  const isOf = (state: StackState) => (record: RecordedCreate) =>
    statesOf(record, states).includes(state);
  const ofStates = states.flatMap((state) => pendingDoubts(state, records.filter(isOf(state))));
  const known = new Set(ofStates.map(({ record }) => record));
  const others = records.filter((record) => !known.has(record));
  const ofRecords = others.flatMap((record) =>
    statesOf(record, states).map((state) => recordedDoubt(record, state)),
  );
  return [...ofStates, ...ofRecords];
}

/** Returns the pending creates of a state, each with its record. */
function pendingDoubts(state: StackState, records: readonly RecordedCreate[]): CreateInDoubt[] {
  const creates = state.pending.filter(({ type }) => type === instanceToken);
  // A create that is repeated after a kill asks for the same explicit name, but for another generated one.
  return [...Map.groupBy(creates, keyOf)].flatMap(([key, [pending]]) => {
    if (!pending) return [];
    const { urn, name, isGenerated } = pending;
    const record = records.find((one) => keyOf(one) === key);
    const places = record
      ? [record]
      : peersOf(pending, state).flatMap(({ origin }) => origin ?? []);
    return [{ stack: state.stack, urn, name, isGenerated, pending, record, places }];
  });
}

function recordedDoubt(record: RecordedCreate, state: StackState | undefined): CreateInDoubt {
  const { name, kind, urn } = record;
  const [some] = state ? withPending(state) : [];
  return {
    stack: state?.stack,
    // `stack rename` changes the start of each URN.
    urn: some ? urn.replace(stackOf(urn), stackOf(some.urn)) : urn,
    name,
    isGenerated: kind === "generated",
    pending: undefined,
    record,
    places: [record],
  };
}

/** What `stack rename` leaves as it is. */
function keyOf({ urn, scope = "", name = "" }: Pick<RecordedCreate, "urn" | "scope" | "name">) {
  return [scope, typesOf(urn), logicalName(urn), name.toLowerCase()].join(" ");
}

/**
 * Returns the states that may be of the create's stack, or only undefined if there is none. Stacks of two organizations can have the
 * same URNs. The provider resource is one stack's, unless `state move` has copied it.
 */
function statesOf(
  { urn, scope, isHere }: RecordedCreate,
  states: readonly StackState[],
): (StackState | undefined)[] {
  const ofUrn = states.filter(({ stack }) => isHere && isOfStack(urn, stack));
  const ofScope = states.filter((state) => scope !== undefined && scopesOf(state).has(scope));
  const ofBoth = ofScope.filter((state) => ofUrn.includes(state));
  return [ofBoth, ofScope, ofUrn].find((some) => some.length > 0) ?? [undefined];
}

/** Whether a listing of this origin has the instance of a state under its id. */
export function isListedAt(held: { origin: Origin | undefined }, origin: Origin): boolean {
  return originDifference(held.origin, origin, "") === undefined;
}

/** Whether the record of a create has this id of a listing. `origin` is that of the listing. */
export function hasId({ record }: CreateInDoubt, id: string, origin: Origin | undefined): boolean {
  return origin !== undefined && record?.id === id && isSameOrigin(record, origin);
}

/** Whether a listed instance may be the create's: it has the create's id, or has its name and was not there before. */
export function mayBe(doubt: CreateInDoubt, item: ListItem, origin: Origin | undefined): boolean {
  const { record, name, isGenerated } = doubt;
  if (hasId(doubt, item.id, origin)) return true;
  // A service may answer with an id that it never lists.
  if (record?.id !== undefined && !isGenerated) return false;
  if (record && origin && !isSameOrigin(record, origin)) return false;
  if (record?.before.includes(item.id)) return false;
  return name !== undefined && isNamed(item.name, name);
}

/** Returns the create that has made the listed instance, or may have: the one with its id before those with its name. */
export function makerOf(
  item: ListItem,
  doubts: readonly CreateInDoubt[],
  origin: Origin | undefined,
): CreateInDoubt | undefined {
  return (
    doubts.find((doubt) => hasId(doubt, item.id, origin)) ??
    doubts.find((doubt) => mayBe(doubt, item, origin))
  );
}

/** What a service lists, and the origin of the listing. Without an origin, the service was not asked. */
export interface Listed {
  readonly items: ReadonlyMap<string, ListItem>;
  readonly origin: Origin | undefined;
}

/**
 * Returns the instance in a state that the create has made, so that it is not in doubt: it has the id in the create's record, or a
 * later run went on with the create, as the generated name shows.
 */
export function holderOf(
  doubt: CreateInDoubt,
  held: HeldInstances,
  listed: Listed,
): StateResource | undefined {
  const { record, isGenerated } = doubt;
  const recorded = record?.id === undefined ? [] : [record.id];
  const items = isGenerated ? [...listed.items.values()] : [];
  const named = items.filter((item) => mayBe(doubt, item, listed.origin)).map(({ id }) => id);
  return [...recorded, ...named].map((id) => heldAs(id, doubt, held, listed)).find(Boolean);
}

/** Returns the instance that a state has under this id at the create's origin, or that the create's resource has under this id. */
export function heldAs(
  id: string,
  { urn, stack, record }: CreateInDoubt,
  held: HeldInstances,
  { origin }: Listed,
): StateResource | undefined {
  const place = record ?? origin;
  const isOwn = (one: StateResource) => one.stack === stack && one.urn === urn;
  return held.get(id)?.find((one) => isOwn(one) || (place !== undefined && isListedAt(one, place)));
}
