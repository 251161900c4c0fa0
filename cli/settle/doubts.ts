/** Brings together what the ledgers and the state of a stack say of the same create. */
import type { ListItem } from "../../provider/api/contract";
import { isNamed } from "../../provider/evidence/witness";
import { isSameOrigin, type Origin } from "../../provider/origin";
import { instanceToken } from "../../provider/pulumiNames";
import { explicitProvider, isOfStack, logicalName, typesOf } from "../../provider/urn";
import { isListedAt } from "../compare";
import type { CreateInDoubt } from "../creates";
import {
  instanceIn,
  providerOf,
  scopesOf,
  type ExportedState,
  type PendingCreate,
  type StateResource,
} from "./exported";

/** A create of the stack whose instance may be in no state. */
export interface Doubt {
  readonly urn: string;
  /** The name it asked for. Undefined if that is a secret. */
  readonly name: string | undefined;
  readonly isGenerated: boolean;
  /**
   * What the state says of it, the latest first. Empty if the state was saved over, or was never saved. A create that is
   * repeated after a kill asks for the same explicit name, but for another generated one.
   */
  readonly pending: readonly PendingCreate[];
  /** What a ledger on this machine says of it. */
  readonly record: CreateInDoubt | undefined;
}

/** Returns the creates in doubt of the stack with this state, and those of any stack with one of the URNs in `also`. */
export function doubtsOf(
  stack: string,
  state: ExportedState,
  creates: readonly CreateInDoubt[],
  also: ReadonlySet<string>,
): Doubt[] {
  const scopes = scopesOf(state);
  const isOurs = ({ urn, scope, isHere }: CreateInDoubt) =>
    also.has(urn) ||
    (scope !== undefined && scopes.has(scope)) ||
    (isHere && isOfStack(urn, stack));
  const records = creates.filter(isOurs).sort((one, other) => (one.at > other.at ? -1 : 1));
  const instances = state.pending.filter(({ instance }) => instance !== undefined);
  const byKey = Map.groupBy(instances, ({ instance, resource: { urn } }) =>
    keyOf({ ...instance, urn }),
  );
  const ofState = [...byKey].map(([key, pending]): Doubt => {
    const record = records.find((one) => keyOf(one) === key);
    const { name, isGenerated = false } = pending[0]?.instance ?? {};
    return { urn: pending[0]?.resource.urn ?? "", name, isGenerated, pending, record };
  });
  const joined = new Set(ofState.map(({ record }) => record));
  const ofLedger = records
    .filter((record) => !joined.has(record))
    .map((record): Doubt => {
      const { urn, name, kind } = record;
      return { urn, name, isGenerated: kind === "generated", pending: [], record };
    });
  return [...ofState, ...ofLedger];
}

/** Whether the file of a create has the id of an instance that is listed at this place. */
export function hasId({ record }: Doubt, id: string, place: Origin | undefined): boolean {
  return place !== undefined && record?.id === id && isSameOrigin(record, place);
}

/** Whether a listed instance may be the create's: it has its id, or its name and was not there before. A secret name may be any. */
export function mayBe(doubt: Doubt, item: ListItem, place?: Origin): boolean {
  const { record, name, isGenerated } = doubt;
  if (hasId(doubt, item.id, place)) return true;
  // A service may answer with an id that it never lists.
  if (record?.id !== undefined && !isGenerated) return false;
  if (record?.before.includes(item.id) === true) return false;
  return name === undefined || isNamed(item.name, name);
}

/** Returns the instance that a state has for a resource, unless it was deleted before its replacement was to be made. */
export function occupantOf(urn: string, { resources }: ExportedState): StateResource | undefined {
  return resources.find((one) => one.urn === urn && !one.delete && !one.pendingReplacement);
}

/** The state of the stack, and what is listed. */
export interface Listed {
  readonly state: ExportedState;
  /** What the service lists, by id. */
  readonly items: ReadonlyMap<string, ListItem>;
  /** Where these are listed. Undefined if the service was not asked. */
  readonly origin: Origin | undefined;
}

/** Says why the token must not put an instance into the stack. Undefined if it may. */
export function whyForeign(
  doubt: Doubt,
  { state, origin }: Pick<Listed, "state" | "origin">,
): string | undefined {
  if (origin?.tokenKind !== "test") return undefined;
  const isLive = placesOf(doubt, state).some((held) => held.origin.tokenKind === "live");
  return isLive
    ? "the stack's instances were made with a live token, but the token given now is a test one"
    : undefined;
}

/**
 * Says why the listing may be of another place than the one to which a create without a file was sent. Undefined if it shows an
 * instance of the same provider that the stack has, or one whose tag is that of this provider resource (`scopes`).
 */
export function whyUnvouched(
  doubt: Doubt,
  listed: Listed,
  scopes: ReadonlySet<string>,
): string | undefined {
  const { state, items, origin } = listed;
  const foreign = whyForeign(doubt, listed);
  if (foreign !== undefined) return foreign;
  const isTagged = scopes.has(doubt.pending[0]?.instance?.scope ?? "");
  const isShown = placesOf(doubt, state).some(
    (held) => origin !== undefined && items.has(held.id) && isListedAt(held, origin),
  );
  return isTagged || isShown
    ? undefined
    : "nothing shows that these settings reach its place: they list no instance of this stack";
}

/** Returns where the state's instances live that are of the same provider as the create. */
function placesOf(
  { pending: [pending], record }: Doubt,
  { resources }: ExportedState,
): { id: string; origin: Origin }[] {
  const provider = pending ? pending.instance?.explicitProvider : record?.provider;
  return resources.flatMap((one) => {
    if (one.type !== instanceToken || explicitProvider(providerOf(one).urn) !== provider) return [];
    const { id, origin } = instanceIn(one);
    return origin ? [{ id, origin }] : [];
  });
}

/** The start of a URN is another one after `stack rename`. The provider resource stays the same. */
function keyOf({ urn, scope, name = "" }: Pick<CreateInDoubt, "urn" | "scope" | "name">): string {
  return [scope, typesOf(urn), logicalName(urn), name.toLowerCase()].join(" ");
}
