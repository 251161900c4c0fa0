/** The last look of a create whose POST was left open (G2): what else may have come of it. */
import { importAs } from "../../advice";
import type { Snapshot } from "../../listing/snapshot";
import type { Session } from "../../session/session";
import { candidates, type Wanted } from "./settle";

/** It must not put off the end of a create for long. */
const lastLookSeconds = 30;

/** Warns of every further instance of that name. */
export async function warnOfExtras(session: Session, urn: string, wanted: Wanted): Promise<void> {
  const snapshot = await lastLook(session);
  if (!snapshot) return;
  for (const item of candidates(session, snapshot, wanted)) {
    session.around.messages.warning(
      `there is another instance named "${wanted.shownName}", ${item.id}: it may come from a create that was not answered. Remove it at the service if nothing else uses it, or take it over as a resource of its own: \`${importAs("<name>", item.id, session.provider)}\``,
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
