/** The listing of the service, for the commands that need it, and how they explain that it failed. */
import { Canceled, isEnded, TimedOut } from "../provider/abort";
import { nextStep } from "../provider/advice";
import { RequestError } from "../provider/api/errors";
import { OperationFailed } from "../provider/errors";
import type { Listing } from "../provider/evidence/listing";
import type { Origin } from "../provider/origin";
import { commandRun, Session, timeouts } from "../provider/session/session";
import {
  checkSettings,
  type FoundSettings,
  type SettingOptions,
  type SettingSource,
} from "./settings";
import type { Finding, Terminal } from "./terminal";

/** A service whose settings are known. */
interface OpenedService extends SettingSource {
  session: Session;
}

/** The instances that the service lists for one token, with the session that listed them. */
export interface ServiceListing extends OpenedService {
  /** The service, the token's kind and hash, and the account. */
  origin: Origin;
  listing: Listing;
}

/**
 * Lists the instances of the service that the settings name.
 *
 * @throws OperationFailed if the settings can't be used, with the next steps
 * @throws Error if the listing fails: see `explainError`
 */
export async function listService(
  options: SettingOptions,
  stack: string | undefined,
  io: Terminal,
): Promise<ServiceListing> {
  const { findings, found } = await checkSettings(options, stack, io);
  if (!found) throw new OperationFailed(failureLines(findings));
  return await listWith(found, io);
}

/** Returns the lines of those of the findings that are FAILED, each with its next step. */
export function failureLines(findings: readonly Finding[]): string[] {
  const failures = findings.filter(({ result }) => result === "FAILED");
  return failures.flatMap(({ check, found, next }) => [`${check}: ${found}`, `→ ${next}`]);
}

/**
 * Lists the instances of the service with these settings.
 *
 * @throws Error if the listing fails: see `explainError`
 */
export async function listWith(
  { settings, variables, ...from }: FoundSettings,
  io: Terminal,
): Promise<ServiceListing> {
  // Ctrl-C ends the whole process.
  const canceler = new AbortController();
  try {
    const session = new Session(settings, io, () => canceler.signal, commandRun(variables));
    return await listAgain({ session, ...from });
  } catch (error) {
    // After a time-out, the requests would go on in vain.
    canceler.abort(new Canceled());
    io.warn(`The settings come from ${from.source}.`);
    throw error;
  }
}

/**
 * Lists the instances that exist now. A listing that began before this call is not used.
 *
 * @throws Error if the listing fails: see `explainError`
 */
export async function listAgain(service: OpenedService): Promise<ServiceListing> {
  const { session, stack, source } = service;
  const { listings, connection } = session;
  const after = listings.mark();
  // Without a time-out, the requests would never end if the service always answers 429.
  using operation = session.operation(timeouts.look);
  const { origin } = await connection.open(operation.signal);
  const listing = await listings.get({ after }, operation.signal);
  return { session, stack, source, origin, listing };
}

/**
 * Returns the lines that explain an error to a person: what failed, and then each next step after "→ ". Undefined for a defect
 * of the plugin.
 */
export function explainError(error: unknown): readonly string[] | undefined {
  if (error instanceof RequestError) return [error.message, `→ ${nextStep(error)}`];
  if (error instanceof OperationFailed)
    return error.cause instanceof RequestError ? explainError(error.cause) : error.lines;
  if (!isEnded(error)) return undefined;
  if (error instanceof TimedOut && error.pause)
    return [error.message, "→ Run the command again after that time."];
  const waitedFor = error instanceof TimedOut && error.waitedFor;
  return [
    `the command ${error.message}${waitedFor ? `, waiting for ${waitedFor}` : ""}`,
    "→ Run the command again later. If the service sends no answer at all, check compute:baseUrl, the network and the proxy settings.",
  ];
}
