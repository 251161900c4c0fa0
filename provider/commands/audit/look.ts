/**
 * Looks at the services and at the stacks, and where they differ once more: what a run under way has
 * just made or removed is neither an orphan nor gone.
 */
import { search } from "../../listing/search";
import type { Snapshot } from "../../listing/snapshot";
import type { Origin } from "../../origin";
import { judge, type Presence } from "../../resources/instance/presence";

import { readAllStates, type HeldInstance, type StackState } from "../pulumi";
import type { Service } from "../service";
import { compare, type Comparison, type Place } from "./compare";

/** A service, and what it listed. */
export interface Listed extends Place {
  service: Service;
  origin: Origin;
  listing: Snapshot;
}

export interface Stacks {
  states: readonly StackState[];
  unread: readonly { stack: string; problem: string }[];
}

export interface Looks {
  places: readonly Listed[];
  stacks: Stacks;
  first: Comparison<Listed>;
  /** Of what the first look missed. */
  verdicts: readonly { held: HeldInstance; presence: Presence }[];
  /** The second look, where the first has found something. */
  second?: { stacks: Stacks; comparison: Comparison<Listed>; places: readonly Listed[] };
}

export async function listAt(service: Service): Promise<Listed> {
  const { listing, origin } = await service.listing();
  return { service, origin, listing, items: listing.items };
}

async function readStacks(env: NodeJS.ProcessEnv): Promise<Stacks> {
  const read = await readAllStates(env);
  return {
    states: read.flatMap((it) => ("state" in it ? [it.state] : [])),
    unread: read.flatMap((it) => ("state" in it ? [] : [it])),
  };
}

const heldIn = ({ states }: Stacks) => states.flatMap(({ instances }) => instances);

export async function look(places: readonly Listed[], env: NodeJS.ProcessEnv): Promise<Looks> {
  const stacks = await readStacks(env);
  const first = compare(places, heldIn(stacks));
  const pending = stacks.states.flatMap((state) => state.pending);
  if (first.unheld.length + first.missing.length + pending.length === 0) {
    return { places, stacks, first, verdicts: [] };
  }
  const all = heldIn(stacks);
  // A listing from before the states were read is no proof against what they hold.
  for (const { service } of places) service.session.listings.markWrite();
  const verdicts = await Promise.all(
    first.missing.map(async ({ place, held }) => ({
      held,
      presence: await presenceOf(held, place.service, place.origin, all),
    })),
  );
  const again = await readStacks(env);
  const later = await Promise.all(places.map(({ service }) => listAt(service)));
  const comparison = compare(later, heldIn(again));
  return {
    ...{ places, stacks, first, verdicts },
    second: { stacks: again, comparison, places: later },
  };
}

/** By the proof that a refresh asks for (G3). */
function presenceOf(
  { id, origin: kept, acceptedAt }: HeldInstance,
  service: Service,
  origin: Origin,
  all: readonly HeldInstance[],
): Promise<Presence> {
  const { session } = service;
  const { pollIntervalMs } = session.settings;
  const settledAt = acceptedAt === undefined ? 0 : session.settledBy(acceptedAt);
  const seenWithIt = all.filter(
    (it) => it.id !== id && it.origin !== undefined && it.origin.tokenHash === kept?.tokenHash,
  );
  const isSameTenant = (listed: ReadonlyMap<string, unknown>) =>
    kept?.tokenHash === origin.tokenHash || seenWithIt.some((it) => listed.has(it.id));
  return service.patiently(async (signal) => {
    const options = { pollIntervalMs, settledAt };
    return judge(session, await search(id, session.listings, options, signal), isSameTenant);
  });
}
