/** The service as the commands ask it: with the client, the listings and the proofs of the provider. */
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

/** A signal that is never aborted: Ctrl-C ends the whole process. */
const never = new AbortController().signal;

/** All that the service lists for one token. */
export interface ServiceListing {
  session: Session;
  origin: Origin;
  listing: Listing;
}

/** What the provider is given in a command: its messages go to stderr. */
export function createContext({ redactor, env, warn }: Terminal): ProviderContext {
  const ignore = () => undefined;
  const messages = {
    ...{ status: ignore, debug: ignore, info: warn },
    warning: (text: string) => warn(`warning: ${text}`),
  };
  return { messages, redactor, clock: systemClock, env };
}

/** A session with the service. Nothing is sent yet. */
export function createSession(settings: Settings, io: Terminal): Session {
  return new Session(settings, createContext(io), () => never);
}

/**
 * Lists the instances that are there now.
 *
 * @throws Error where that failed: see `explainError`.
 */
export async function listService(session: Session): Promise<ServiceListing> {
  const { listings, connection } = session;
  const after = listings.mark();
  // Without a time-out, a service that always answers 429 would be asked for ever.
  using operation = session.operation(timeouts.look);
  const listing = await listings.get({ after }, operation.signal);
  const { origin } = await connection.open(operation.signal);
  return { session, origin, listing };
}

/**
 * The lines that tell a person of an error, with the next step.
 *
 * @throws The error itself, where it is a defect of ours.
 */
export function explainError(error: unknown): readonly string[] {
  if (error instanceof OperationFailed) return error.lines;
  if (error instanceof RequestError) return [explain(error)];
  if (isEnded(error)) return [`asking the service ${error.message}. Run again later.`];
  throw error;
}
