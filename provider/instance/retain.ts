/** Delete with `compute:deletePolicy: retain`: dropped from the state, and left alone at the service (G4). */
import { originDifference, originFromState } from "../origin";
import type { DeleteRequest } from "../requests";
import type { Session } from "../session/session";
import { isSameTenant, refuseElsewhere, settlingEnd, knownInstanceOf } from "./existence";

/**
 * Works without the service, which is only looked at for what the warning says. Never with the settings
 * of another place, whose default policy may be another.
 *
 * @throws OperationFailed if the state tells of another place.
 */
export async function retainInstance(session: Session, request: DeleteRequest): Promise<void> {
  const { id, urn, oldOutputs } = request;
  refuseElsewhere(id, originFromState(oldOutputs), session.connection.place());
  // `pulumi do --stateless` and a former `.get()` drop what another state may hold.
  if (session.state.isProven(id)) session.ledger.settleId(session.settings, id, "dropped");
  const stays = staysBehind(oldOutputs, session.settings.tokenKind);
  const rest = {
    listed: stays,
    lacking: "the service no longer lists it, so it seems to be gone already",
    unknown: `if it still exists, ${stays}`,
  }[await lookOnce(session, request)];
  session.ctx.messages.warning(
    `instance ${id} is dropped from the state, not destroyed (compute:deletePolicy is "retain"): ${rest}`,
    urn,
  );
}

/** What an instance that is left alone goes on doing. `configured` as in `isBilled`. */
export function staysBehind(outputs: DeleteRequest["oldOutputs"], configured: string): string {
  return isBilled(outputs, configured)
    ? "it goes on running and is billed until it is removed at the service"
    : "it stays at the service until its sandbox lifetime is over";
}

/** `configured` is the kind of the token in force, for a state that does not tell. */
export function isBilled(outputs: DeleteRequest["oldOutputs"], configured: string): boolean {
  return (originFromState(outputs)?.tokenKind ?? configured) === "live";
}

/** How long a look may take, in seconds. */
const longestLook = 10;

/** Sessions in which a look has failed: the next Deletes do not wait for another one. */
const blind = new WeakSet<Session>();

/** By one shared listing, which is no proof that it is gone (G3). */
async function lookOnce(
  session: Session,
  { id, oldOutputs }: DeleteRequest,
): Promise<"listed" | "lacking" | "unknown"> {
  if (blind.has(session)) return "unknown";
  using operation = session.operation(longestLook);
  try {
    const { origin } = await session.connection.open(operation.signal);
    const { kept, acceptedAt } = knownInstanceOf(oldOutputs);
    if (kept && originDifference(kept, origin)) return "unknown";
    const { items, complete } = await session.listings.get(
      session.listings.recent,
      operation.signal,
    );
    if (items.has(id)) return "listed";
    const isSettled = settlingEnd(session, acceptedAt) <= session.ctx.clock.now();
    const isTelling = complete && isSettled && isSameTenant(session, id, { kept, origin, items });
    return isTelling ? "lacking" : "unknown";
  } catch (error) {
    blind.add(session);
    session.ctx.messages.debug(`whether ${id} still exists is not known: ${String(error)}`);
    return "unknown";
  }
}
