/** All that is found out before a POST: the connection, the room for it, and the baseline (G2). */
import type { ComputeApi } from "../../api/client";
import type { JournalEntry } from "../../journal/entry";
import { notedName, shownName } from "../../journal/notedName";
import { shareableMs } from "../../listing/listings";
import { named } from "../../listing/snapshot";
import type { Session } from "../../session/session";
import type { Order } from "./order";
import type { PostProgress } from "./progress";
import type { Wanted } from "./settle";

/** A create with all that was found out before it. */
export interface Prepared extends Order {
  session: Session;
  api: ComputeApi;
  entry: Omit<JournalEntry, "at" | "id">;
  wanted: Wanted;
  progress: PostProgress;
  /** Until then (clock time) the baseline serves: a POST of later needs another. */
  freshUntil: number;
}

const held =
  "held back: without compute:cursorParameter the service shows 100 instances in PROVISIONING at the most";

export async function prepare(
  session: Session,
  order: Order,
  progress: PostProgress,
  signal: AbortSignal,
): Promise<Prepared> {
  const { urn, args, secretName, digest } = order;
  const { clock } = session.around;
  const { api, origin } = await session.connection.open(signal);
  progress.is("listing what is there before the create");
  const fresh = () => ({
    after: session.creates.settledAt(args.name),
    notBefore: clock.now() - shareableMs,
  });
  const baseline = await session.room.enter({
    urn,
    look: () => session.listings.get(fresh(), signal),
    signal,
    onHeld: () => progress.is(held),
  });
  const freshUntil = clock.now() + shareableMs;
  const ofThisUrn = session.state.idsOf(urn);
  const entry = {
    ...origin,
    urn,
    provider: session.provider,
    name: notedName(args.name, secretName, session.settings),
    digest,
    before: [...named(baseline, args.name).map((item) => item.id), ...ofThisUrn],
    beforeComplete: baseline.complete,
    replaces: ofThisUrn.length > 0,
  };
  const wanted = {
    name: args.name,
    shownName: shownName(args.name, secretName),
    before: baseline.items,
  };
  return { ...order, session, api, entry, wanted, progress, freshUntil };
}
