/** What a create sees of the service: a listing, and what the session and the ledger know at that moment. */
import { importAs } from "../advice";
import type { Listing } from "../listing/listing";
import type { Session } from "../session/session";
import type { About } from "./messages";
import { newOfName, type Look } from "./protocol";

/** A listing, with what is known now. */
export function lookOf(session: Session, listing: Listing): Look {
  const { creates, state, ledger, ctx } = session;
  const { items, complete, begunAt } = listing;
  return {
    items,
    complete,
    begunAt,
    isMade: (id) => creates.has(id),
    isCarried: (id) => state.hasId(id),
    isHeld: (id) => state.isProven(id),
    mayLack: ({ at }) => session.settledBy(at) > ctx.clock.now(),
    entries: ledger.read(),
  };
}

/** It must not put off the end of a create for long. */
const lastLookSeconds = 30;

/**
 * The last look of a create whose POST was not answered clearly (G2): warns of every further instance
 * of that name.
 */
export async function warnOfExtras(
  session: Session,
  { urn, shownName }: About,
  name: string,
  key: string,
  before: ReadonlySet<string>,
): Promise<void> {
  const listing = await lastLook(session);
  if (!listing) return;
  for (const id of newOfName(lookOf(session, listing), name, before, key)) {
    session.ctx.messages.warning(
      `there is another instance named "${shownName}", ${id}: it may come from a create that was not answered. Remove it at the service if nothing else uses it, or take it over as a resource of its own: \`${importAs("<name>", id, session.provider)}\``,
      urn,
    );
  }
}

/**
 * A listing begun now; after Ctrl-C, or where that fails, the newest there is. Never rejects: the create has
 * its outcome already.
 */
async function lastLook(session: Session): Promise<Listing | undefined> {
  const { listings, ctx } = session;
  using operation = session.operation(lastLookSeconds);
  try {
    return await listings.get({ notBefore: ctx.clock.now() }, operation.signal);
  } catch {
    return listings.latest;
  }
}
