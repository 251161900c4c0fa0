/**
 * One billed POST, made so that nothing is made twice (G2) and nothing is lost (G1): a baseline
 * before it, a journal entry around it, and a look at the service whenever its outcome is open.
 */
import { grace, isEnded } from "../../abort";
import { explain } from "../../advice";
import type { Accepted, ComputeApi } from "../../api/client";
import type { ListItem } from "../../api/contract";
import { RequestError } from "../../api/errors";
import { OperationFailed } from "../../errors";
import type { JournalEntry } from "../../journal/entry";
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
import { answeredBroken, callsItOurFault, surelyNotMade } from "./postFailure";
import { PostProgress } from "./progress";
import { lookForOpenCreate, whyNotOurs, type Sighting, type Wanted } from "./settle";

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
  progress: PostProgress;
  /** Until then (clock time) the baseline serves: a POST of later needs another. */
  freshUntil: number;
}

/** The rate limit held the POST back, and others may have made an instance of its name since. */
class BaselineOutdated extends Error {}

const held =
  "held back: without compute:cursorParameter the service shows 100 instances in PROVISIONING at the most";

/** How long a POST under way may go on to bring its id back after Ctrl-C or a time-out (G1). */
const graceMs = 10_000;

/** A limit may let so little through that every baseline is old by then: the last one serves. */
const mostBaselines = 4;

export async function post(
  session: Session,
  order: Order,
  signal: AbortSignal,
): Promise<Provisioned> {
  const progress = new PostProgress(session.around, order.urn);
  try {
    for (let baselines = 1; ; baselines++) {
      try {
        const create = await prepare(session, order, progress, signal);
        if (baselines === mostBaselines) create.freshUntil = Infinity;
        return await sendAndSettle(create, signal);
      } catch (error) {
        if (!(error instanceof BaselineOutdated)) throw error;
      }
    }
  } finally {
    progress.stop();
  }
}

async function sendAndSettle(create: Prepared, signal: AbortSignal): Promise<Provisioned> {
  const { session, ...order } = create;
  let open: OpenCreate | undefined;
  for (let sent = 1; ; sent++) {
    const outcome = await send(create, open, signal);
    if (!(outcome instanceof RequestError)) {
      return { ...outcome, ...(open ? { wasOpen: create.wanted } : {}) };
    }
    const name = order.secretName ? "[secret]" : create.wanted.name;
    open = { urn: order.urn, provider: session.provider, name, failure: outcome };
    const sighting = await look(create, open, signal);
    const item = theOne(create, open, sighting);
    if (item) return adopt(create, open, item);
    if (sent === 1 && sighting.complete && callsItOurFault(outcome)) {
      // Noted all the same: the next run looks once more before it sends anything.
      const at = session.around.clock.date().toISOString();
      session.journal.write({ ...create.entry, at, refused: true });
      throw new OperationFailed(explain(outcome), { cause: outcome });
    }
    const mayRepeat = sent === 1 && sighting.complete && answeredBroken(outcome);
    if (!mayRepeat) {
      throw noneSeen(open, sighting, { lookedMs: lookFor(create, open), sent });
    }
  }
}

async function prepare(
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
  const wanted = { name: args.name, before: baseline.items };
  return { ...order, session, api, entry, wanted, progress, freshUntil };
}

/** Resolves to what was accepted, or to the failure that leaves the outcome open. */
async function send(
  { session, urn, args, api, entry, progress, freshUntil }: Prepared,
  open: OpenCreate | undefined,
  signal: AbortSignal,
): Promise<Pick<Provisioned, "accepted" | "after"> | RequestError> {
  const { journal, settings, around } = session;
  const now = () => around.clock.date().toISOString();
  // The turn may be long in coming, and the settling time counts from the sending.
  const turn = {
    awaited: () => progress.is("waiting for the rate limit"),
    come: () => {
      // After an open POST an instance of its name may be its own: no later listing is a baseline.
      if (!open && around.clock.now() > freshUntil) throw new BaselineOutdated();
      journal.write({ ...entry, at: now() });
      progress.is("waiting for the service to accept the create");
    },
  };
  using ending = grace(around.clock, graceMs, signal);
  try {
    const signals = { unsent: signal, grace: ending.signal };
    const accepted = await api.createInstance(createBodyOf(args), signals, turn);
    session.creates.made(accepted.id);
    const { id, createdAt, networks } = accepted;
    journal.write({ ...entry, at: now(), id, accepted: { createdAt, networks } });
    return { accepted, after: session.listings.markWrite() };
  } catch (error) {
    if (error instanceof RequestError && !surelyNotMade(error)) return error;
    // Not sent or refused: of this POST nothing was made. What one before it left open stays noted.
    const harmless =
      error instanceof RequestError || isEnded(error) || error instanceof BaselineOutdated;
    if (harmless && !open) journal.clear(settings, urn);
    if (error instanceof RequestError) {
      throw open
        ? repeatRefused(open, error)
        : new OperationFailed(explain(error), { cause: error });
    }
    throw open && isEnded(error) ? cutShort(open, error) : error;
  }
}

/** How long to look, in milliseconds. */
function lookFor({ session }: Prepared, { failure }: OpenCreate): number {
  const { settlingMs, pollIntervalMs } = session.settings;
  return callsItOurFault(failure) ? Math.min(pollIntervalMs, settlingMs) : settlingMs;
}

async function look(create: Prepared, open: OpenCreate, signal: AbortSignal): Promise<Sighting> {
  const { session, urn, wanted, progress } = create;
  const { clock, messages } = session.around;
  progress.stop();
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
  { session, urn, wanted, entry }: Prepared,
  open: OpenCreate,
  sighting: Sighting,
): ListItem | undefined {
  const [item, ...others] = sighting.candidates;
  if (!item) return undefined;
  if (others.length > 0) throw severalSeen(open, sighting.candidates);
  const doubt = whyNotOurs(session, urn, wanted.name, entry);
  if (doubt !== undefined) throw notProvenOurs(open, item, doubt);
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
  session.creates.takenOver(id);
  return { accepted: { id, name, status, ...noted }, after: 0 };
}
