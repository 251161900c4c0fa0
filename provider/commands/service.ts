/** The service as a command asks it: with the provider's own client, listings and proofs. */
import { isEnded } from "../abort";
import { explain } from "../advice";
import { RequestError } from "../api/errors";
import { systemClock } from "../clock";
import type { Settings } from "../config/settings";
import { OperationFailed } from "../errors";
import type { Snapshot } from "../listing/snapshot";
import type { Origin } from "../origin";
import { Session, timeouts } from "../session/session";
import type { Messages } from "../surroundings";
import type { Terminal } from "./terminal";

/** Ctrl-C ends the process itself. */
const never = new AbortController().signal;

export class Service implements AsyncDisposable {
  readonly session: Session;

  constructor(settings: Settings, by: Terminal) {
    const { cleaner, env } = by;
    const around = { messages: messagesTo(by), cleaner, clock: systemClock, env };
    this.session = new Session(settings, around, () => never);
  }

  /** Begun after all that was done before. */
  async listing(): Promise<{ listing: Snapshot; origin: Origin }> {
    const { listings } = this.session;
    const after = listings.mark();
    return this.patiently(async (signal) => ({
      listing: await listings.get({ after }, signal),
      origin: (await this.session.connection.open(signal)).origin,
    }));
  }

  /** Ends by itself: a 429 fails nothing, so that what is never answered would go on for ever. */
  async patiently<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    using operation = this.session.operation(timeouts.look);
    return await work(operation.signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.session.connection.close();
  }
}

/** What would be shown of a resource has no place here. */
function messagesTo({ warn }: Terminal): Messages {
  const nothing = () => undefined;
  const warning = (text: string) => warn(`warning: ${text}`);
  return { status: nothing, info: warn, warning, debug: nothing };
}

/** What a person is told of an error, with the next step; a defect of ours is thrown again. */
export function explained(error: unknown): readonly string[] {
  if (error instanceof OperationFailed) return error.lines;
  if (error instanceof RequestError) return [explain(error)];
  if (isEnded(error)) return [`the service: ${error.message}. Run again later.`];
  throw error;
}
