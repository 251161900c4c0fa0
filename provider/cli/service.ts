/** The service as a command asks it: with the provider's own client, listings and proofs. */
import { isEnded } from "../abort";
import { explain } from "../advice";
import { RequestError } from "../api/errors";
import { systemClock } from "../clock";
import type { Settings } from "../config/settings";
import { OperationFailed } from "../errors";
import type { Listing } from "../listing/listing";
import type { Origin } from "../origin";
import { Session, timeouts } from "../session/session";
import type { Terminal } from "./terminal";

/** A service as one token sees it, and all that it lists. */
export interface Listed {
  service: Service;
  origin: Origin;
  listing: Listing;
}

export class Service {
  readonly session: Session;

  constructor(settings: Settings, { redactor, env, warn }: Terminal) {
    const nothing = () => undefined;
    const warning = (text: string) => warn(`warning: ${text}`);
    // What would be shown of a resource has no place here.
    const messages = { status: nothing, info: warn, warning, debug: nothing };
    // Ctrl-C ends the process itself.
    const never = new AbortController().signal;
    this.session = new Session(
      settings,
      { messages, redactor, clock: systemClock, env },
      () => never,
    );
  }

  /** Lists what is there now, after all that was done before. */
  list(): Promise<Listed> {
    const { listings, connection } = this.session;
    const after = listings.mark();
    return this.patiently(async (signal) => ({
      service: this,
      listing: await listings.get({ after }, signal),
      origin: (await connection.open(signal)).origin,
    }));
  }

  /** Ends by itself: a 429 fails nothing, so that what is never answered would go on for ever. */
  async patiently<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    using operation = this.session.operation(timeouts.look);
    return await work(operation.signal);
  }
}

/** What a person is told of an error, with the next step; a defect of ours is thrown again. */
export function explained(error: unknown): readonly string[] {
  if (error instanceof OperationFailed) return error.lines;
  if (error instanceof RequestError) return [explain(error)];
  if (isEnded(error)) return [`the service: ${error.message}. Run again later.`];
  throw error;
}
