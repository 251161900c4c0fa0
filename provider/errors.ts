/** The errors that leave an operation. `provider.ts` translates RequestError, Canceled and TimedOut into them. Any other is a defect. */
import metadata from "../metadata.json";
import type { RequestError } from "./api/requestError";
import type { Text } from "./context";
import type { PropertyMap } from "./pulumi/propertyValue";

/** Returns the message for any other error. */
export function defectMessage(message: string): string {
  return `defect in the ${metadata.name} provider: ${message}`;
}

/**
 * A message about one instance. `shared` may be the same for other instances of the run. Then the message of one instance has it,
 * and each other instance has one line, which names that instance (`Notices.linesOf`).
 */
export interface Report {
  /** Which instance, and what happened: the clause with which the first line begins. */
  readonly own: string;
  /** The rest of the first line, and the lines after it: why, and what to do. */
  readonly shared: readonly string[];
  /**
   * The failed requests in `shared`. They are the same for two instances if they differ in nothing but the request_id. The line of
   * a further instance has the request_id of the first request and, if that was refused, its code.
   */
  readonly requests?: readonly RequestError[];
}

/** What an error says. */
export type Said = Text | Report;

/** Whether a part of the message may be the same for other instances. */
export function isReport(message: Said): message is Report {
  return typeof message === "object" && "own" in message;
}

/** A first line that would be longer ends after the own clause of its report, and the first failed request in few words. */
const maxFirstLine = 160;

/** Returns all lines of a message. Each is shown as one line, even if it contains a line break. */
export function wholeOf(message: Said): readonly string[] {
  if (!isReport(message)) return [message].flat();
  const { own, shared, requests: [request] = [] } = message;
  const [end = ".", ...lines] = shared;
  const isBroken = own.length + end.length > maxFirstLine && end.startsWith(": ");
  if (!isBroken) return [own + end, ...lines];
  return [`${own}${request ? ` (${request.short})` : ""}:`, end.slice(2), ...lines];
}

/** An error with a message for a person. */
export abstract class Reported extends Error {
  readonly says: Said;
  lines: readonly string[];
  constructor(says: Said, options?: ErrorOptions) {
    const lines = wholeOf(says);
    super(lines.join("\n"), options);
    this.says = says;
    this.lines = lines;
  }

  /** Sets the lines that the engine gets. */
  say(lines: readonly string[]): void {
    this.lines = lines;
    this.message = lines.join("\n");
  }
}

/** The operation failed, and the engine has nothing new to record. */
export class OperationFailed extends Reported {
  override readonly name: string = "OperationFailed";
}

/** The operation was canceled (Ctrl-C) before it sent a request that changes something. */
export class OperationCanceled extends OperationFailed {
  override readonly name = "OperationCanceled";
  constructor() {
    super("canceled before anything was changed");
  }
}

/** The requested instance does not exist. */
export class NotFound extends OperationFailed {
  override readonly name = "NotFound";
}

/**
 * The service has accepted the instance, but it is not ready. The engine records its id and state, so that it is not lost (G1),
 * and reads it before the next update.
 */
export class InstanceUnfinished extends Reported {
  override readonly name = "InstanceUnfinished";
  constructor(
    readonly id: string,
    readonly state: { inputs: PropertyMap; outputs: PropertyMap },
    says: Said,
    /** Whether the instance is proven gone since. The next Read drops it from the state. */
    readonly isGone = false,
  ) {
    super(says);
  }
}
