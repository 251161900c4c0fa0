/**
 * One billed POST, made so that nothing is made twice (G2) and nothing is lost (G1): a baseline
 * before it, a journal entry around it, and a look at the service whenever its outcome is open.
 */
import { isEnded } from "../../abort";
import { explain } from "../../advice";
import type { Accepted, ComputeApi } from "../../api/client";
import type { ListItem } from "../../api/contract";
import { RequestError } from "../../api/errors";
import { OperationFailed } from "../../errors";
import type { JournalEntry } from "../../journal/journal";
import { notedName } from "../../journal/notedName";
import { shareableMs } from "../../listing/listings";
import { named } from "../../listing/snapshot";
import type { Session } from "../../session";
import { createBodyOf, type InstanceArgs } from "./definition";
import { isGeneratedName } from "./naming";
import {
  cutShort,
  noneSeen,
  notProvenOurs,
  repeatRefused,
  severalSeen,
  type OpenCreate,
} from "./openCreate";
import { lookForOpenCreate, type Sighting, type Wanted } from "./settle";

export interface Order {
  urn: string;
  args: InstanceArgs;
  /** Whether the program made the name a secret. */
  secretName: boolean;
  /** Keyed digest of what is asked for. */
  digest: string;
}

export interface Provisioned {
  accepted: Accepted;
  /** Listings begun before this mark need not show the instance. */
  after: number;
  /** Where a POST was left open on the way: what a last look compares with (G2). */
  wasOpen?: Wanted;
}

/** A create with all that was found out before it. */
interface Prepared extends Order {
  session: Session;
  api: ComputeApi;
  entry: Omit<JournalEntry, "at" | "id">;
  wanted: Wanted;
}

export async function post(
  session: Session,
  order: Order,
  signal: AbortSignal,
): Promise<Provisioned> {
  const create = await prepare(session, order, signal);
  let open: OpenCreate | undefined;
  for (let sent = 1; ; sent++) {
    const outcome = await send(create, open, signal);
    if (!(outcome instanceof RequestError)) {
      return { ...outcome, ...(open ? { wasOpen: create.wanted } : {}) };
    }
    const name = order.secretName ? "[secret]" : create.wanted.name;
    open = { urn: order.urn, name, failure: outcome };
    const sighting = await look(create, open, signal);
    const item = theOne(create, open, sighting);
    if (item) return adopt(create, open, item);
    if (sent === 1 && sighting.complete && callsItOurFault(outcome)) {
      session.journal.clear(session.settings, order.urn);
      throw new OperationFailed(explain(outcome), { cause: outcome });
    }
    const mayRepeat = sent === 1 && sighting.complete && answeredBroken(outcome);
    if (!mayRepeat) {
      throw noneSeen(open, sighting, { lookedMs: lookFor(create, open), sent });
    }
  }
}

async function prepare(session: Session, order: Order, signal: AbortSignal): Promise<Prepared> {
  const { urn, args, secretName, digest } = order;
  const { api, origin } = await session.connect(signal);
  const baseline = await session.listings.get(
    {
      after: session.settledAt.get(args.name) ?? 0,
      notBefore: session.around.clock.now() - shareableMs,
    },
    signal,
  );
  const ofThisUrn = session.state.idsOf(urn);
  const entry = {
    ...origin,
    urn,
    name: notedName(args.name, secretName, session.settings),
    digest,
    before: [...named(baseline, args.name).map((item) => item.id), ...ofThisUrn],
    beforeComplete: baseline.complete,
    replaces: ofThisUrn.length > 0,
  };
  const wanted = { name: args.name, before: new Set(baseline.items.keys()) };
  return { ...order, session, api, entry, wanted };
}

/** Resolves to what was accepted, or to the failure that leaves the outcome open. */
async function send(
  { session, urn, args, api, entry }: Prepared,
  open: OpenCreate | undefined,
  signal: AbortSignal,
): Promise<Pick<Provisioned, "accepted" | "after"> | RequestError> {
  const { journal, settings, around } = session;
  const now = () => around.clock.date().toISOString();
  const note = { ...entry, at: now() };
  journal.write(note);
  const grace = session.grace(signal);
  try {
    const signals = { unsent: signal, grace: grace.signal };
    const accepted = await api.createInstance(createBodyOf(args), signals);
    session.claimed.add(accepted.id);
    const { id, createdAt, networks } = accepted;
    journal.write({ ...note, at: now(), id, accepted: { createdAt, networks } });
    return { accepted, after: session.listings.markWrite() };
  } catch (error) {
    if (error instanceof RequestError && !surelyNotMade(error)) return error;
    // Ended or refused: of this POST nothing was made. What one before it left open stays noted.
    const harmless = error instanceof RequestError || isEnded(error);
    if (harmless && !open) journal.clear(settings, urn);
    if (error instanceof RequestError) {
      throw open
        ? repeatRefused(open, error)
        : new OperationFailed(explain(error), { cause: error });
    }
    throw open && isEnded(error) ? cutShort(open, error) : error;
  } finally {
    grace.stop();
  }
}

/** How long to look, in milliseconds. */
function lookFor({ session }: Prepared, { failure }: OpenCreate): number {
  const { settlingMs, pollIntervalMs } = session.settings;
  return callsItOurFault(failure) ? Math.min(pollIntervalMs, settlingMs) : settlingMs;
}

async function look(create: Prepared, open: OpenCreate, signal: AbortSignal): Promise<Sighting> {
  const { session, urn, wanted } = create;
  const { clock, messages } = session.around;
  messages.status(urn, "the create was not answered well; looking for its instance");
  try {
    const end = clock.now() + lookFor(create, open);
    return await lookForOpenCreate(session, wanted, end, signal);
  } catch (error) {
    throw isEnded(error) ? cutShort(open, error) : error;
  }
}

/** The one instance that the open POST made. A generated name is proof; any other needs a baseline. */
function theOne(
  { urn, wanted, entry }: Prepared,
  open: OpenCreate,
  sighting: Sighting,
): ListItem | undefined {
  const [item, ...others] = sighting.candidates;
  if (item && others.length > 0) throw severalSeen(open, sighting.candidates);
  if (item && !entry.beforeComplete && !isGeneratedName(urn, wanted.name)) {
    throw notProvenOurs(open, item);
  }
  return item;
}

function adopt({ session, urn, wanted, entry }: Prepared, open: OpenCreate, item: ListItem) {
  const { journal, around } = session;
  if (!isGeneratedName(urn, wanted.name)) {
    around.messages.warning(
      `the create of "${open.name}" was not answered well (${open.failure.message}); exactly one instance of that name has turned up since, ${item.id}, and was adopted`,
      urn,
    );
  }
  journal.write({ ...entry, at: around.clock.date().toISOString(), id: item.id });
  return { ...adopted(session, item), wasOpen: wanted };
}

/** An instance known from the list; what only the 202 shows of it is lost, but for what was noted. */
export function adopted(
  session: Session,
  { id, name, status }: ListItem,
  noted: JournalEntry["accepted"] = { networks: [] },
): Provisioned {
  session.claimed.add(id);
  session.takenOver.add(id);
  return { accepted: { id, name, status, ...noted }, after: 0 };
}

/** No connection at all, or one of the refusals that the document gives ("Errors"). */
function surelyNotMade({ kind, status = 0 }: RequestError): boolean {
  return kind === "unreachable" || (kind === "answered" && [400, 401, 403, 429].includes(status));
}

/**
 * A refusal in HTTP's terms that the document does not give: 404, 409, 422 and the like. It leaves
 * the outcome open too (G2), since a gateway may have said it of a repeat of its own; but it is believed
 * once a complete listing, a poll interval later, still shows no instance.
 */
function callsItOurFault({ kind, status = 0 }: RequestError): boolean {
  return kind === "answered" && status >= 400 && status < 500 && status !== 408;
}

/** An answered 500, 502 or 503: the one case in which a POST may be made again (G2). */
function answeredBroken(failure: RequestError): boolean {
  return failure.kind === "answered" && [500, 502, 503].includes(failure.status ?? 0);
}
