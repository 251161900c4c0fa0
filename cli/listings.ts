/** The listing of the service, for the commands that need it, and how they explain that it failed. */
import { Canceled, isEnded, TimedOut } from "../provider/abort";
import { nextStep } from "../provider/advice";
import { RequestError } from "../provider/api/requestError";
import { OperationFailed } from "../provider/errors";
import type { Listing } from "../provider/evidence/listing";
import type { Origin } from "../provider/origin";
import { timeouts } from "../provider/session/operations";
import { commandOptions, Session } from "../provider/session/session";
import type { FoundSettings } from "./settings";
import { count, type Finding, type Terminal } from "./terminal";

/** The instances that the service lists for one token, with the session that listed them. */
export interface ServiceListing extends FoundSettings {
  readonly session: Session;
  /** The service, the token's kind and hash, and the account. */
  readonly origin: Origin;
  readonly listing: Listing;
}

/** Returns what the commands say of this listing. */
export function summaryOf({ origin, source, listing }: ServiceListing) {
  const { baseUrl, tokenKind, account } = origin;
  const { items, complete } = listing;
  return { baseUrl, tokenKind, account, settings: source, listed: items.size, complete };
}

/** Returns the line about a service with which a report begins. */
export function serviceLine(summary: ReturnType<typeof summaryOf>): string {
  const { baseUrl, tokenKind, settings, listed, complete } = summary;
  const instances = `${count(listed, "instance")} listed${complete ? "" : ", and there may be more"}`;
  return `service    ${baseUrl} (${tokenKind} token; ${settings}): ${instances}`;
}

/** Returns the lines of those of the findings that are FAILED, each with its next step. */
export function failedLines(findings: readonly Finding[]): string[] {
  const failures = findings.filter(({ result }) => result === "FAILED");
  return failures.flatMap(({ check, found, next }) => [`${check}: ${found}`, `→ ${next}`]);
}

/**
 * Begins a session with these settings. `cancel` ends its requests: after a time-out, they would go on in vain. `patienceMs`: as in
 * `ClientOptions`.
 */
export function beginSession(
  { settings, variables, stack }: FoundSettings,
  io: Terminal,
  patienceMs?: number,
) {
  // Ctrl-C ends the whole process.
  const canceler = new AbortController();
  const options = commandOptions(variables, stack, patienceMs);
  const session = new Session(settings, io, () => canceler.signal, options);
  return { session, cancel: () => canceler.abort(new Canceled()) };
}

/**
 * Lists the instances of the service with these settings.
 *
 * @throws Error if the listing fails: see `explainError`
 */
export async function listService(found: FoundSettings, io: Terminal): Promise<ServiceListing> {
  const { session, cancel } = beginSession(found, io);
  try {
    return await listAgain({ ...found, session });
  } catch (error) {
    cancel();
    io.warn(`The settings come from ${found.source}.`);
    throw error;
  }
}

/**
 * Lists the instances that exist now. A listing that began before this call is not used.
 *
 * @throws Error if the listing fails: see `explainError`
 */
export async function listAgain(
  service: FoundSettings & { session: Session },
): Promise<ServiceListing> {
  const { session } = service;
  const after = session.listings.mark();
  // Without a time-out, the requests would never end if the service always answers 429.
  using operation = session.operations.begin(timeouts.look);
  const { origin } = await session.connection.open(operation);
  const listing = await session.list(operation, { after });
  return { ...service, origin, listing };
}

/**
 * Returns the lines that explain an error to a person: what failed, and then each next step after "→ ". Undefined for a defect
 * of the plugin.
 */
export function explainError(error: unknown): readonly string[] | undefined {
  if (error instanceof RequestError) return [error.message, `→ ${nextStep(error)}`];
  if (error instanceof OperationFailed) return error.lines;
  if (!isEnded(error)) return undefined;
  if (error instanceof TimedOut && error.pause)
    return [error.message, "→ Run the command again after that time."];
  return [
    `the command ${error.message}`,
    "→ Run the command again later. If the service sends no answer at all, check compute:baseUrl, the network and the proxy settings.",
  ];
}
