/** Finds the listed instances with the tag of a resource of the stack, and those of them that a person is told of. */
import type { ListItem } from "../../provider/api/contract";
import { isNameFor } from "../../provider/instance/naming";
import { stopsCreate } from "../../provider/create/protocol";
import { instanceToken } from "../../provider/pulumi/names";
import { stackOf, typesOf } from "../../provider/pulumi/urn";
import type { ServiceListing } from "../listings";
import { presentIn, scopesOf, withPending, type StackState, type StateResource } from "../state";
import { isListedAt, type HeldInstances } from "../view";
import type { Row } from "./decide";

/** A listed instance of a resource of the stack. */
export interface StackLeftover {
  readonly item: ListItem;
  readonly urn: string;
  /** The id of the provider resource whose tag it has. */
  readonly scope: string;
}

/** A leftover that a person is told of. */
export interface NamedLeftover extends StackLeftover {
  /** The resource of a state that has the instance, or lets it run beside its own instance. Undefined if no state explains it. */
  readonly explainer: StateResource | undefined;
}

/** An instance that runs beside that of its resource, because a person wants that. */
export interface LetRun {
  readonly urn: string;
  readonly id: string;
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
 * Returns the leftovers that a person is told of: those that no state explains, if they would stop a create under the policy "fail", and
 * those that a state explains, if they stop an `up` all the same. (Those that the stack's own state explains do so if `isCreatedNext`.)
 */
export function namedOf(
  leftovers: readonly StackLeftover[],
  state: StackState,
  held: HeldInstances,
  { settings, origin }: ServiceListing,
): NamedLeftover[] {
  const { tokenKind, deletePolicy, leftovers: setting } = settings;
  const stops = (deleteFails: boolean) =>
    stopsCreate(
      { leftovers: setting, deleteFails, identity: { tokenKind } },
      { items: [{ why: "tag" }], partial: false },
    );
  return leftovers.flatMap((leftover) => {
    const { item, urn } = leftover;
    const explainer =
      state.resources.find((one) => one.urn === urn && one.known.includes(item.id)) ??
      held.get(item.id)?.find((one) => isListedAt(one, origin));
    const isShown = explainer?.stack === state.stack && !isCreatedNext(urn, state, []);
    // A provider that the program makes may have another policy.
    const isNamed = explainer ? stops(deletePolicy === "fail") && !isShown : stops(true);
    return isNamed ? [{ ...leftover, explainer }] : [];
  });
}

/** Whether the state shows that the next `up` creates this resource, once these rows are carried out. */
export function isCreatedNext(urn: string, state: StackState, rows: readonly Row[]): boolean {
  const row = rows.find(({ doubt }) => doubt.urn === urn);
  const entry = state.resources.find((one) => one.urn === urn && !one.delete);
  const isCreated = entry ? entry.taint || entry.pendingReplacement : row !== undefined;
  return isCreated && row?.does.kind !== "put";
}

/** Returns the instances that `--forget` lets run beside the one that the state has: those of creates in doubt, and leftovers. */
export function letRunBy(
  forget: readonly string[],
  state: StackState,
  rows: readonly Row[],
  named: readonly NamedLeftover[],
): LetRun[] {
  const ofRows = rows.flatMap(({ doubt: { urn }, does }) =>
    does.kind === "gone" ? does.items.map(({ id }) => ({ urn, id })) : [],
  );
  const ofNamed = named.map(({ urn, item: { id } }) => ({ urn, id }));
  return [...ofRows, ...ofNamed].filter(
    ({ urn }) => forget.includes(urn) && presentIn(state, urn) !== undefined,
  );
}
