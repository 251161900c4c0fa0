/**
 * One billed POST, made so that nothing is made twice (G2) and nothing is lost (G1): a baseline
 * before it, a journal entry around it, and a look at the service whenever its outcome is open.
 */
import { grace, isEnded } from "../../abort";
import { explain } from "../../advice";
import type { ListItem } from "../../api/contract";
import { RequestError } from "../../api/errors";
import { OperationFailed } from "../../errors";
import type { Session } from "../../session/session";
import { createBodyOf } from "./definition";
import { isGeneratedName } from "./naming";
import {
  cutShort,
  noneSeen,
  notProvenOurs,
  repeatRefused,
  severalSeen,
  type OpenCreate,
} from "./openCreate";
import { adopted, type Order, type Provisioned } from "./order";
import { answeredBroken, callsItOurFault, surelyNotMade } from "./postFailure";
import { prepare, type Prepared } from "./prepare";
import { PostProgress } from "./progress";
import { lookForOpenCreate, whyNotOurs, type Sighting } from "./settle";

/** The rate limit held the POST back, and others may have made an instance of its name since. */
class BaselineOutdated extends Error {}

/** How long a POST under way may go on to bring its id back after Ctrl-C or a time-out (G1). */
const graceMs = 10_000;

/** A limit may let so little through that every baseline is old by then: the last one serves. */
const mostBaselines = 4;

export async function post(
  session: Session,
  order: Order,
  signal: AbortSignal,
): Promise<Provisioned> {
  using progress = new PostProgress(session.around, order.urn);
  for (let baselines = 1; ; baselines++) {
    const create = await prepare(session, order, progress, signal);
    const isLast = baselines === mostBaselines;
    try {
      return await sendAndSettle(isLast ? { ...create, freshUntil: Infinity } : create, signal);
    } catch (error) {
      if (!(error instanceof BaselineOutdated)) throw error;
    }
  }
}

async function sendAndSettle(create: Prepared, signal: AbortSignal): Promise<Provisioned> {
  const { session, urn, wanted } = create;
  let open: OpenCreate | undefined;
  for (let sent = 1; ; sent++) {
    const outcome = await send(create, open, signal);
    if (!(outcome instanceof RequestError)) {
      return { ...outcome, ...(open ? { wasOpen: wanted } : {}) };
    }
    open = { urn, provider: session.provider, name: wanted.shownName, failure: outcome };
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
    session.creates.noteMade(accepted.id);
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
