/** What one look at the services and one at the stacks say of each other. */
import type { ListItem } from "../../api/contract";
import { originDifference, type Origin } from "../../origin";
import type { HeldInstance } from "../pulumi";

/** A service as one token sees it. */
export interface Place {
  origin: Origin;
  items: ReadonlyMap<string, ListItem>;
}

export interface Comparison<P extends Place> {
  managed: readonly { place: P; item: ListItem; holders: readonly HeldInstance[] }[];
  /** Listed, and managed by no stack. */
  unheld: readonly { place: P; item: ListItem }[];
  /** In a stack, and not listed where it lives. */
  missing: readonly { place: P; held: HeldInstance }[];
  /** In a stack, and nothing was listed where it lives. */
  elsewhere: readonly { held: HeldInstance; why: string }[];
}

export function compare<P extends Place>(
  places: readonly P[],
  all: readonly HeldInstance[],
): Comparison<P> {
  const holders = new Map<ListItem, HeldInstance[]>();
  const missing: { place: P; held: HeldInstance }[] = [];
  const elsewhere: { held: HeldInstance; why: string }[] = [];
  for (const held of all.filter(({ external }) => !external)) {
    const near = reachable(places, held);
    const item = near.map(({ items }) => items.get(held.id)).find((it) => it !== undefined);
    const [place] = near;
    if (item) holders.set(item, [...(holders.get(item) ?? []), held]);
    else if (place && held.origin) missing.push({ place, held });
    else elsewhere.push({ held, why: whereabouts(places, held) });
  }
  const listed = places.flatMap((place) =>
    [...place.items.values()].map((item) => ({ place, item, holders: holders.get(item) ?? [] })),
  );
  return {
    managed: listed.filter((it) => it.holders.length > 0),
    unheld: listed.filter((it) => it.holders.length === 0),
    ...{ missing, elsewhere },
  };
}

/** Those where it may live, first the one of the very token that it was last seen with. */
function reachable<P extends Place>(places: readonly P[], { origin }: HeldInstance): P[] {
  if (!origin) return [...places];
  const near = places.filter((it) => originDifference(origin, it.origin) === undefined);
  const isSame = (it: Place) => Number(it.origin.tokenHash === origin.tokenHash);
  return near.sort((a, b) => isSame(b) - isSame(a));
}

function whereabouts([place]: readonly Place[], { origin }: HeldInstance): string {
  if (!origin) return "its state does not say where it lives";
  return (place && originDifference(origin, place.origin)) ?? "no listing was to be had";
}
