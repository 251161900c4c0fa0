/** Finds the instances whose names this provider generated for a resource of the stack, and that no state holds any more. */
import type { ListItem } from "../../provider/api/contract";
import { isNameFor } from "../../provider/instance/naming";
import { instanceToken } from "../../provider/pulumiNames";
import { stackOf, typesOf } from "../../provider/urn";
import { scopesOf, withPending, type ExportedState } from "./exported";

/** A listed instance of a resource of the stack. */
export interface Leftover {
  readonly item: ListItem;
  readonly urn: string;
  /** The id of the provider resource whose tag it has. */
  readonly scope: string;
}

/**
 * Returns those of the items that have the tag and the base name of a resource of the stack: one in the state, or one that
 * has left it, whose logical name is then taken from the name of the instance.
 */
export function leftoversIn(items: readonly ListItem[], state: ExportedState): Leftover[] {
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
