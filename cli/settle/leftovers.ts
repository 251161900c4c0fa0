/** Finds the listed instances with the tag of a resource of the stack, and those that stop the next `up`. */
import type { ListItem } from "../../provider/api/contract";
import { isNameFor } from "../../provider/instance/naming";
import { stopsCreate } from "../../provider/create/protocol";
import { instanceToken } from "../../provider/pulumi/names";
import { stackOf, typesOf } from "../../provider/pulumi/urn";
import type { ServiceListing } from "../listings";
import { presentIn, scopesOf, withPending, type StackState, type StateResource } from "../state";
import { isListedAt, type HeldInstances } from "../view";

/** A listed instance of a resource of the stack. */
export interface StackLeftover {
  readonly item: ListItem;
  readonly urn: string;
  /** The id of the provider resource whose tag it has. */
  readonly scope: string;
}

/** A leftover that stops the next `up`. */
export interface Stopping extends StackLeftover {
  /** The resource of a state that has the instance. Undefined if no state has it. */
  readonly holder: StateResource | undefined;
}

/**
 * Returns those of the items that have the tag and the base name of a resource of the stack. If the resource has left the state,
 * its logical name is guessed from the name of the instance.
 */
export function leftoversIn(items: readonly ListItem[], state: StackState): StackLeftover[] {
  const all = withPending(state);
  const known = all.filter(({ type }) => type === instanceToken).map(({ urn }) => urn);
  const start = stackOf(all[0]?.urn ?? "");
  const types = new Set([instanceToken, ...known.map(typesOf)]);
  const scopes = [...scopesOf(state)];
  return items.flatMap((item) => {
    // A service may add a domain.
    const base = /^([^.]+)-[a-z2-7]{8}(\..*)?$/i.exec(item.name ?? "")?.[1];
    if (base === undefined) return [];
    const guessed = [...types].map((type) => `${start}::${type}::${base}`);
    const named = [...known, ...guessed].flatMap((urn) =>
      scopes.flatMap((scope) => (isNameFor(item.name, urn, scope) ? [{ item, urn, scope }] : [])),
    );
    return named.slice(0, 1);
  });
}

/**
 * Returns the leftovers that stop the next `up`, because it creates their resource: the state lacks the resource, or has marked it
 * for replacement.
 */
export function stoppingOf(
  leftovers: readonly StackLeftover[],
  state: StackState,
  held: HeldInstances,
  { settings, origin }: ServiceListing,
): Stopping[] {
  const { tokenKind, deletePolicy, leftovers: setting } = settings;
  const spec = { leftovers: setting, deleteFails: deletePolicy === "fail", own: { tokenKind } };
  if (!stopsCreate(spec, { items: [{ why: "tag" }], partial: false })) return [];
  const isCreated = ({ urn }: StackLeftover) => presentIn(state, urn)?.taint ?? true;
  return leftovers.filter(isCreated).map((leftover) => {
    const holder = held.get(leftover.item.id)?.find((one) => isListedAt(one, origin));
    return { ...leftover, holder };
  });
}
