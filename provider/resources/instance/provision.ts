/** From an order to an instance that the service has accepted: one left open earlier, or a new one. */
import { importAs } from "../../advice";
import { keyedFingerprint } from "../../fingerprint";
import type { Snapshot } from "../../listing/snapshot";
import type { Session } from "../../session";
import { createBodyOf, type InstanceArgs } from "./definition";
import { isGeneratedName } from "./naming";
import { adopted, post, type Order, type Provisioned } from "./post";
import { resumeFromJournal } from "./resume";
import { candidates, type Wanted } from "./settle";

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

/** A last look must not put off the end of a create for long. */
const lastLookSeconds = 30;

/** The last look (G2): warns of every further instance of that name. */
export async function warnOfExtras(session: Session, urn: string, wanted: Wanted): Promise<void> {
  const snapshot = await lastLook(session);
  if (!snapshot) return;
  for (const item of candidates(session, snapshot, wanted)) {
    session.around.messages.warning(
      `there is another instance named "${wanted.name}", ${item.id}: it may come from a create that was not answered. Remove it at the service if nothing else uses it, or take it over as a resource of its own: \`${importAs("<name>", item.id, session.provider)}\``,
      urn,
    );
  }
}

/** After Ctrl-C, and where the listing fails, what the last one showed: the create has its own outcome. */
async function lastLook(session: Session): Promise<Snapshot | undefined> {
  const { listings, around } = session;
  using operation = session.operation(lastLookSeconds);
  try {
    return await listings.get({ notBefore: around.clock.now() }, operation.signal);
  } catch {
    return listings.latest;
  }
}
