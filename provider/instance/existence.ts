/** Asks whether an instance exists, within reach of this configuration. */
import { wayToAddress, wayToToken, type SettingPlaces } from "../advice";
import { OperationFailed, type Report } from "../errors";
import { ask } from "../evidence/ask";
import type { Question, Verdict } from "../evidence/witness";
import { originDifference, type Origin } from "../origin";
import { waits, type Operation } from "../session/operations";
import type { Session } from "../session/session";
import { refusalReport } from "./refusals";

/** What is asked for: an `Instance`, or what a state that was exported says of one. */
export interface Wanted {
  readonly id: string;
  readonly origin: Origin | undefined;
  /** When the service accepted it (ISO 8601). Undefined once each listing shows it, if it exists. */
  readonly acceptedAt: string | undefined;
}

/** Returns a clock time. Every listing that begins then or later shows the instance, if it exists. */
export function whenListed(session: Pick<Session, "settledBy">, { acceptedAt }: Wanted): number {
  return acceptedAt === undefined ? 0 : session.settledBy(acceptedAt);
}

/**
 * What a proof of absence decides. "drop": that a billed instance is forgotten, made anew, or left unnamed. "say": the words of an
 * error, or what an acknowledged DELETE has decided.
 */
type Stake = "drop" | "say";

/** The longest pause after a listing that shows none of ours. The settling time or half of the operation's time may be shorter. */
const maxNoneOfOursMs = 60_000;

/** Returns `Question.noneOfOursMs`. Undefined if the instance costs nothing. */
export function noneOfOursMs(
  session: Pick<Session, "settings">,
  instance: Pick<Wanted, "origin">,
  { seconds }: Pick<Operation, "seconds">,
): number | undefined {
  if (!isBilled(session, instance)) return undefined;
  return Math.min(maxNoneOfOursMs, session.settings.settlingMs, (seconds * 1000) / 2);
}

/** Returns what listings are asked about an instance. */
export function questionOf(
  session: Pick<Session, "settledBy" | "settings">,
  instance: Wanted,
  operation: Pick<Operation, "seconds">,
  stake: Stake = "drop",
): Question<{ id: string }> {
  return {
    subject: { id: instance.id },
    listedBy: whenListed(session, instance),
    pollIntervalMs: session.settings.pollIntervalMs,
    noneOfOursMs: stake === "drop" ? noneOfOursMs(session, instance, operation) : undefined,
  };
}

/**
 * Asks the listings that all operations share. `origin` is that of the listings.
 *
 * @throws OperationFailed if the instance lives elsewhere, RequestError if a request fails, and the error that ended the operation.
 */
export async function askAbout(
  session: Session,
  instance: Wanted,
  operation: Operation,
  stake?: Stake,
): Promise<{ verdict: Verdict; origin: Origin }> {
  const { connection, listings, ours, state } = session;
  const { origin } = await connection.open(operation);
  refuseElsewhere(session, instance, origin);
  // Called at each listing.
  const known = () => {
    operation.noteLook(undefined);
    // Not `origin`: the token may be renewed while the listings are asked.
    return { vouchers: state.vouchersOf(instance, connection.origin()), ours };
  };
  const onOpen = () => operation.show({ what: "not listed, looking again" });
  using _wait = operation.waiting(waits.listing);
  const question = questionOf(session, instance, operation, stake);
  return { verdict: await ask(listings, question, operation.signal, { known, onOpen }), origin };
}

/** The longest look that only makes a message more exact. */
const briefSeconds = 10;

/** Returns what a brief look finds. Undefined if it fails. Once a request has failed, the session leaves brief looks out. */
export async function briefly<T>(
  session: Session,
  look: (operation: Operation) => Promise<T>,
): Promise<T | undefined> {
  if (session.failedLook) return undefined;
  using operation = session.operations.begin(briefSeconds);
  try {
    return await look(operation);
  } catch (error) {
    // An instance that is out of reach says nothing about the next look.
    if (!(error instanceof OperationFailed)) session.failedLook = error as Error;
    session.ctx.messages.debug(`the instances could not be listed: ${String(error)}`);
    return undefined;
  }
}

/** Whether the instance costs money. Its recorded token kind decides, or the configured one if none is recorded. */
export function isBilled(
  { settings }: Pick<Session, "settings">,
  { origin }: Pick<Wanted, "origin">,
): boolean {
  return (origin ?? settings).tokenKind === "live";
}

/** What says where the settings of a run come from. */
type Sourced = Pick<Session, "places" | "addressName">;

/** @throws OperationFailed if the recorded origin has another service, token kind or account than the configured one */
export function refuseElsewhere(session: Sourced, instance: Wanted, configured: Origin): void {
  const report = outOfReach(session, instance, configured);
  if (report) throw new OperationFailed(report);
}

/** Returns how a run gets the settings with which an instance of another service, token kind or account was made. */
export function waysToReach(
  { baseUrl, tokenKind, account }: Origin,
  configured: Origin,
  places: SettingPlaces,
): string[] {
  const isElsewhere = baseUrl !== configured.baseUrl;
  const isOtherKind = tokenKind !== configured.tokenKind;
  const token = isOtherKind ? `a ${tokenKind} token` : `a token of account ${account}`;
  return [
    (isOtherKind || !isElsewhere) && wayToToken(token, places),
    isElsewhere && wayToAddress(baseUrl, places),
  ].filter((way) => way !== false);
}

/** Returns the report of an instance of another service, token kind or account than the configured ones. */
export function outOfReach(
  { places, addressName }: Sourced,
  { id, origin }: Wanted,
  configured: Origin,
): Report | undefined {
  const difference = originDifference(origin, configured, addressName);
  if (!origin || !difference) return undefined;
  return refusalReport({
    what: `instance ${id} is out of reach`,
    why: `: ${difference}`,
    ways: waysToReach(origin, configured, places),
    page: "instance.md#out-of-reach",
  });
}
