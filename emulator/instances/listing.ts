/** One page of instances: filter, order, limit and, where the option is on, a cursor. */
import type { ListOrder } from "../options";
import { shuffled, type RandomSource } from "../random";
import type { ListedInstance, Owner, Store } from "./store";

export interface PageRequest {
  owner: Owner;
  status: string | undefined;
  limit: number;
  /** The id of the last instance of the page before. */
  after: string | undefined;
}

export interface Page {
  instances: ListedInstance[];
  hasMore: boolean;
}

/** How to go on after a row, and the order of rows, for each order that has pages. */
const orders = {
  oldest: { beyond: "seq > :seq", by: "seq" },
  newest: { beyond: "seq < :seq", by: "seq DESC" },
  shuffled: { beyond: "(shuffle, seq) > (:shuffle, :seq)", by: "shuffle, seq" },
} as const;

/** Undefined when the cursor names no instance of this owner. */
export function readPage(
  store: Store,
  order: ListOrder,
  stable: boolean,
  random: RandomSource,
  page: PageRequest,
): Page | undefined {
  const { owner, status, limit, after } = page;
  if (order === "shuffled" && !stable)
    return cut(shuffled(random, store.visible(owner, status, "")), limit);
  const { beyond, by } = orders[order];
  const position = after === undefined ? {} : store.position(after, owner);
  if (position === undefined) return undefined;
  const rest = after === undefined ? "" : `AND ${beyond}`;
  const values = { ...position, limit: limit + 1 };
  return cut(store.visible(owner, status, `${rest} ORDER BY ${by} LIMIT :limit`, values), limit);
}

function cut(instances: ListedInstance[], limit: number): Page {
  return { instances: instances.slice(0, limit), hasMore: instances.length > limit };
}
