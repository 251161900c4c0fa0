/** Lets the commands call the service, with the provider's own session and client. */
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

/** Never aborted, since Ctrl-C ends the whole process. */
const neverAborted = new AbortController().signal;

/** The instances that the service lists for one token, with the session that listed them. */
export interface ServiceListing {
  session: Session;
  /** The service, the token's kind and hash, and the account. */
  origin: Origin;
  listing: Listing;
}

/**
 * Makes a session whose messages go to stderr. It sends nothing yet. `canceled` ends its requests, and `createApi` makes a
 * client that notices more than the provider's own.
 */
export function createSession(
  settings: Settings,
  { redactor, env, warn }: Terminal,
  {
    canceled = neverAborted,
    ...more
  }: Pick<ProviderContext, "createApi"> & { canceled?: AbortSignal } = {},
): Session {
  const ignore = () => undefined;
  const messages = {
    status: ignore,
    debug: ignore,
    info: warn,
    warning: (message: string) => warn(`warning: ${message}`),
  };
  const context = { messages, redactor, clock: systemClock, env, ...more };
  return new Session(settings, context, () => canceled);
}

/**
 * Lists the instances that exist now. A listing that began before this call is not used.
 *
 * @throws Error if the listing fails: see `explainError`.
 */
export async function listService(session: Session): Promise<ServiceListing> {
  const { listings, connection } = session;
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
