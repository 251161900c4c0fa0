/** The errors that leave an operation: `provider.ts` makes them of RequestError, Canceled and TimedOut. Any other is a defect. */
import metadata from "../metadata.json";
import type { Text } from "./context";
import type { PropertyMap } from "./pulumi/propertyValue";

/** Returns the message for any other error. */
export function defectMessage(message: string): string {
  return `defect in the ${metadata.name} provider: ${message}`;
}

interface FailureOptions extends ErrorOptions {
  /** Whether the message itself says what to do about the settings of the run. */
  namesSettings?: boolean;
}

/** The operation failed, and the engine has nothing new to record. */
export class OperationFailed extends Error {
  override readonly name: string = "OperationFailed";
  /** The message. Each item is shown as one line, even if it contains a line break. */
  readonly lines: readonly string[];
  readonly namesSettings: boolean;
  constructor(
    message: string | readonly string[],
    { namesSettings = false, ...options }: FailureOptions = {},
  ) {
    const lines = [message].flat();
    super(lines.join("\n"), options);
    this.lines = lines;
    this.namesSettings = namesSettings;
  }
}

/** A refusal whose reason and ways out are those of other instances of the run, too. */
export class Refused extends OperationFailed {
  override readonly name = "Refused";
  /** `again`: the line of an instance after the first one with the same `subject`. */
  constructor(
    lines: readonly string[],
    readonly shared: { subject: string; id: string; again: string },
    options: FailureOptions,
  ) {
    super(lines, options);
  }
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
 * The service has accepted the instance, but it is not ready, or not all of it could be recorded. The engine records
 * its id and state, so that it is not lost (G1), and reads it before the next update.
 */
export class InstanceUnfinished extends Error {
  override readonly name = "InstanceUnfinished";
  constructor(
    readonly id: string,
    readonly state: { inputs: PropertyMap; outputs: PropertyMap },
    readonly reasons: readonly Text[],
    /** Whether the instance is proven gone since. The next Read drops it from the state. */
    readonly isGone = false,
  ) {
    super(reasons.map((reason) => [reason].flat().join("\n")).join("; "));
  }
}
