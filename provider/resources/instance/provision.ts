/** From an order to an instance that the service has accepted: one left open earlier, or a new one. */
import { keyedFingerprint } from "../../fingerprint";
import type { Session } from "../../session";
import { createBodyOf, type InstanceArgs } from "./definition";
import { isGeneratedName } from "./naming";
import { adopted, post, type Order, type Provisioned } from "./post";
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
      session.creates.settled(args.name);
    }
  });
}

/**
 * Keyed with the token, since it covers the user data; a generated name is left out, as the next run
 * makes another.
 */
function digestOf(session: Session, urn: string, args: InstanceArgs): string {
  const { name, ssh_keys, ...rest } = createBodyOf(args);
  const order = {
    ...rest,
    ssh_keys: [...(ssh_keys ?? [])].sort(),
    name: isGeneratedName(urn, name) ? null : name,
  };
  return keyedFingerprint(session.settings.apiToken, JSON.stringify(order), 32);
}
