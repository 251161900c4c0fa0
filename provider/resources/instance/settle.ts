/**
 * After a POST whose outcome is open: looks for the instance it may have made (G2), for the settling
 * time at most.
 */
import type { ListItem } from "../../api/contract";
import { RequestError } from "../../api/errors";
import type { JournalEntry } from "../../journal/entry";
import { isNoted } from "../../journal/notedName";
import { named, type Snapshot } from "../../listing/snapshot";
import { isSamePlace } from "../../origin";
import type { Session } from "../../session/session";
import { isGeneratedName } from "./naming";

export interface Wanted {
  name: string;
  /** What messages call it. */
  shownName: string;
  /** Instances that were there before, so can't be the one. */
  before: Pick<ReadonlySet<string>, "has">;
}

export interface Sighting {
  candidates: ListItem[];
  /** Whether the last listing was complete, so that "none" means none. */
  complete: boolean;
  /** Why there was no last listing. */
  problem?: string;
}

/** Instances of this name that may have come from the open POST, and are no one else's. */
export function candidates(session: Session, snapshot: Snapshot, wanted: Wanted): ListItem[] {
  // Another run on this machine may have noted one as its own since.
  session.journal.lookAgain();
  return named(snapshot, wanted.name).filter(
    ({ id }) =>
      !wanted.before.has(id) &&
      !session.creates.has(id) &&
      !session.state.holds(id) &&
      session.journal.resourcesOf(session.settings, id).length === 0,
  );
}

/** Why the one new instance of that name may be another's. A generated name is proof that it is not. */
export function whyNotOurs(
  session: Session,
  urn: string,
  name: string,
  { beforeComplete }: Pick<JournalEntry, "beforeComplete">,
): string | undefined {
  if (isGeneratedName(urn, name)) return undefined;
  if (!beforeComplete) return "the listing before the create was not complete, so it may be older";
  const rival = openCreateOf(session, urn, name);
  return rival && `a create of the same name for ${rival} is open, too, so it may be that one's`;
}

/** Another resource with an open create of this name, as far as this machine knows. */
function openCreateOf(session: Session, urn: string, name: string): string | undefined {
  const { journal, settings } = session;
  const open = journal.entries().filter((entry) => entry.id === undefined && entry.urn !== urn);
  return open.find((entry) => isSamePlace(entry, settings) && isNoted(entry.name, name, settings))
    ?.urn;
}

/** Ends as soon as a candidate is seen, or once `end` (clock time) is past: where none is, it looks once. */
export async function lookForOpenCreate(
  session: Session,
  wanted: Wanted,
  end: number,
  signal: AbortSignal,
): Promise<Sighting> {
  const { clock } = session.around;
  const after = session.listings.mark();
  for (;;) {
    const sighting = await lookOnce(session, wanted, after, signal);
    const hopeless = sighting.problem !== undefined && !sighting.transient;
    const left = end - clock.now();
    if (sighting.candidates.length > 0 || hopeless || left <= 0) return sighting;
    await clock.sleep(Math.min(session.settings.pollIntervalMs, left), signal);
  }
}

async function lookOnce(
  session: Session,
  wanted: Wanted,
  after: number,
  signal: AbortSignal,
): Promise<Sighting & { transient?: boolean }> {
  try {
    const need = { after, notBefore: session.around.clock.now() };
    const snapshot = await session.listings.get(need, signal);
    return { candidates: candidates(session, snapshot, wanted), complete: snapshot.complete };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { message, transient } = error;
    return { candidates: [], complete: false, problem: message, transient };
  }
}
