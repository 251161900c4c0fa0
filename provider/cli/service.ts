/**
 * Makes sessions and listings for the commands, with the same client as the provider, and explains their errors. `audit`
 * and `import-plan` use it, and `doctor` its context.
 */
import { isEnded } from "../abort";
import { explain } from "../advice";
import { RequestError } from "../api/errors";
import { systemClock } from "../clock";
import type { Settings } from "../config/settings";
import type { ProviderContext } from "../context";
import { OperationFailed } from "../errors";
import type { Listing } from "../listing/listing";
import type { Origin } from "../origin";
import { Session, timeouts } from "../session/session";
import type { Terminal } from "./terminal";

/** A signal that is never aborted, since Ctrl-C ends the whole process. */
const neverAborted = new AbortController().signal;

/** The instances that the service lists for one token, with the session that listed them. */
export interface ServiceListing {
  session: Session;
  origin: Origin;
  listing: Listing;
}

/** Makes the context in which the provider's code runs in a command. Its messages go to stderr. */
export function createContext({ redactor, env, warn }: Terminal): ProviderContext {
  const ignore = () => undefined;
  const messages = {
    status: ignore,
    debug: ignore,
    info: warn,
    warning: (message: string) => warn(`warning: ${message}`),
  };
  return { messages, redactor, clock: systemClock, env };
}

/** Makes a session with the service. Sends nothing yet. */
export function createSession(settings: Settings, io: Terminal): Session {
  return new Session(settings, createContext(io), () => neverAborted);
}

/**
 * Lists the instances that exist now. The listing is never one that began earlier.
 *
 * @throws Error if the listing fails. `explainError` turns the error into lines for a person.
 */
export async function listService(session: Session): Promise<ServiceListing> {
  const { listings, connection } = session;
  // A listing that began before this mark does not count.
  const after = listings.mark();
  // Without a time-out, the requests would never end if the service always answers 429.
  using operation = session.operation(timeouts.look);
  const listing = await listings.get({ after }, operation.signal);
  const { origin } = await connection.open(operation.signal);
  return { session, origin, listing };
}

/**
 * Returns the lines that explain an error to a person, with the next step.
 *
 * @throws The error itself if it is a defect of the plugin.
 */
export function explainError(error: unknown): readonly string[] {
  if (error instanceof OperationFailed) return error.lines;
  if (error instanceof RequestError) return [explain(error)];
  if (isEnded(error))
    return [`the request to the service ${error.message}. Run the command again later.`];
  throw error;
}
