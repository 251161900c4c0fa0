/** From an order to an instance that the service has accepted: one left open earlier, or a new one. */
import type { Session } from "../../session/session";
import { adopted, digestOf, type Order, type Provisioned } from "./order";
import { post } from "./post";
import { resumeFromJournal } from "./resume";

/** POSTs of one name go one at a time (G2); the waits that follow them do not. */
export async function provision(
  session: Session,
  what: Omit<Order, "digest">,
  signal: AbortSignal,
): Promise<Provisioned> {
  const { urn, args } = what;
  return session.creates.inTurn(args.name, signal, async () => {
    const order = { ...what, digest: digestOf(session, urn, args) };
    const resumed = await resumeFromJournal(session, order, signal);
    if (resumed) {
      const { item, noted, wasOpen } = resumed;
      return { ...adopted(session, item, noted), ...(wasOpen ? { wasOpen } : {}) };
    }
    try {
      return await post(session, order, signal);
    } finally {
      session.creates.noteSettled(args.name);
    }
  });
}
