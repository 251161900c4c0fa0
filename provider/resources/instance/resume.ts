/**
 * Create for a resource whose earlier create was never settled (G1): looks before anything is sent.
 */
import { discardCommand, importAs, importCommand } from "../../advice";
import type { ListItem } from "../../api/contract";
import { OperationFailed } from "../../errors";
import type { JournalEntry } from "../../journal/entry";
import { isHashed, isNoted, shownName, shownNote } from "../../journal/notedName";
import { originDifference } from "../../origin";
import type { Session } from "../../session/session";
import type { Order } from "./order";
import { presenceOf } from "./presence";
import { lookForOpenCreate, whyNotOurs, type Wanted } from "./settle";

export interface Resumed {
  item: ListItem;
  noted?: JournalEntry["accepted"];
  /** Where the POST's outcome was open until now: what a last look compares with (G2). */
  wasOpen?: Wanted;
}

/** The instance to go on with; undefined: nothing was left open, or it is proven gone. */
export async function resumeFromJournal(
  session: Session,
  order: Order,
  signal: AbortSignal,
): Promise<Resumed | undefined> {
  const { settings, journal } = session;
  const { urn, digest, args } = order;
  const entry = journal.find(settings, urn);
  if (!entry) return undefined;
  if (entry.answered) {
    await nameEarlier(session, entry, signal);
    journal.clear(settings, urn);
    return undefined;
  }
  const resumed =
    entry.id === undefined
      ? await findUnnamed(session, entry, order, signal)
      : await findById(session, entry, entry.id, signal);
  if (!resumed) {
    journal.clear(settings, urn);
    return undefined;
  }
  const { id, name = args.name } = resumed.item;
  if (entry.digest !== digest) {
    // The digest is keyed with the token.
    const what =
      entry.tokenHash === session.connection.place().tokenHash
        ? "but the program now asks for another"
        : "but the token has changed since, so whether the program still asks for the same can't be told";
    throw open(entry, `instance ${id} is there, ${what}`, id);
  }
  const shown = shownName(name, order.secretName || isHashed(entry.name));
  session.around.messages.warning(
    `an earlier run created ${id} ("${shown}") for this resource, and nothing has shown since that the state holds it: it is taken over, and nothing new is created`,
    urn,
  );
  journal.write({ ...entry, id });
  return resumed;
}

/**
 * The engine had the answer to this create, and yet asks for another: a replacement that no Diff went
 * before (`--replace`, `state taint`), a `state delete`, `retainOnDelete`. Or it could not save its
 * state: so the instance is named, and not taken over.
 */
async function nameEarlier(
  session: Session,
  { urn, id = "" }: JournalEntry,
  signal: AbortSignal,
): Promise<void> {
  const { items } = await session.listings.get(session.listings.shareable, signal);
  if (!items.has(id) || session.state.holds(id)) return;
  session.around.messages.warning(
    `instance ${id}, which an earlier run created for this resource, is still there, and a new one is created. If this run does not replace it and no stack holds it, remove it at the service, or take it over: \`${importAs("<name>", id, session.provider)}\``,
    urn,
  );
}

async function findById(
  session: Session,
  entry: JournalEntry,
  id: string,
  signal: AbortSignal,
): Promise<Resumed | undefined> {
  const { origin } = await session.connection.open(signal);
  const elsewhere = originDifference(entry, origin);
  if (elsewhere) throw open(entry, elsewhere, id);
  const { presence } = await presenceOf(session, id, { kept: entry, acceptedAt: entry.at }, signal);
  if (presence.kind === "found") return { item: presence.item, noted: entry.accepted };
  if (presence.kind === "gone") return undefined;
  throw open(entry, `whether ${id} still exists can't be told: ${presence.why}`, id);
}

async function findUnnamed(
  session: Session,
  entry: JournalEntry,
  { args: { name: nameNow }, secretName }: Order,
  signal: AbortSignal,
): Promise<Resumed | undefined> {
  const { origin } = await session.connection.open(signal);
  const elsewhere = originDifference(entry, origin);
  if (elsewhere) throw open(entry, elsewhere, "<id>");

  // A secret name is noted as a hash, which only the same name opens.
  const isOpened = isHashed(entry.name) && isNoted(entry.name, nameNow, session.settings);
  const name = isOpened ? nameNow : entry.name;
  const shown = shownName(name, secretName || isHashed(entry.name));
  const wanted = { name, shownName: shown, before: new Set(entry.before) };
  // The settling time counts from the POST; a run much later looks just once more.
  const end = entry.refused ? session.around.clock.now() : session.settledBy(entry.at);
  const sighting = await lookForOpenCreate(session, wanted, end, signal);
  const [item, ...others] = sighting.candidates;
  if (!item) {
    const noProof = entry.refused
      ? undefined
      : whyNoProof({ ...entry, name }, origin.tokenHash, sighting.complete);
    const problem = sighting.problem ?? noProof;
    if (problem === undefined) return undefined;
    throw open(entry, `whether it is there can't be told: ${problem}`, "<id>");
  }
  if (others.length > 0) {
    const ids = sighting.candidates.map((candidate) => candidate.id).join(", ");
    throw open(entry, `several instances could be it: ${ids}`, "<id>");
  }
  const doubt = whyNotOurs(session, entry.urn, name, entry);
  if (doubt !== undefined) throw open(entry, `${item.id} is there, but ${doubt}`, item.id);
  return { item, wasOpen: wanted };
}

/** Why listings that lack it are no proof that it is not there (G3). */
function whyNoProof(entry: JournalEntry, token: string, complete: boolean): string | undefined {
  if (isHashed(entry.name))
    return "its name was secret, and is not the one that the program gives now";
  if (!complete) return "the service's listing is not complete, and does not show it";
  if (entry.tokenHash !== token) {
    return "the token is not the one it was begun with, so its listing may be another tenant's";
  }
  return undefined;
}

function open(entry: JournalEntry, what: string, id: string): OperationFailed {
  const { urn, at } = entry;
  const name = shownNote(entry.name);
  // Where the state holds another instance of the resource, an import under its name is refused.
  const takeOver = entry.replaces
    ? importAs("<new name>", id, entry.provider)
    : importCommand(entry, id);
  return new OperationFailed(
    `an earlier run began to create "${name}" for this resource (${at}), and nothing has shown since that the state holds it: ${what}. Nothing was created now. To take the instance over: \`${takeOver}\`. To forget that create, once you know that nothing of it runs: \`${discardCommand(urn)}\``,
  );
}
