import type { InstanceStatus, ListItem } from "../api/contract";

/**
 * What the service listed at one moment. The list has no cursor that the document shows, so a
 * snapshot says of itself what it proves.
 */
export interface Snapshot {
  /** Place in the order of listings and writes of this process (see `Listings.mark`). */
  readonly begun: number;
  /** Clock time at which it was begun, and at which it was whole. */
  readonly begunAt: number;
  readonly endedAt: number;
  readonly items: ReadonlyMap<string, ListItem>;
  /** Unfiltered and whole: the only kind that can prove absence (G3). */
  readonly complete: boolean;
  /** Items that could not be read, each of which may be any instance. */
  readonly unreadable: number;
  /** The statuses whose own listing was whole. */
  readonly completeStatuses: ReadonlySet<InstanceStatus>;
}

/** Whether it shows every instance of these statuses; where none is named, every one. */
export function isWhole(
  { complete, completeStatuses }: Snapshot,
  statuses: readonly string[],
): boolean {
  const whole: ReadonlySet<string> = completeStatuses;
  return complete || (statuses.length > 0 && statuses.every((status) => whole.has(status)));
}
