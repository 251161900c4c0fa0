/**
 * The ways in which an operation can fail. `rpc/errors.ts` turns these errors into gRPC statuses. It reports
 * any other error as a defect of the provider.
 */
import metadata from "../metadata.json";
import type { PropertyMap } from "./propertyValue";

/** Returns the message for an error of a class that is not in this file. `ownMessage` is that error's own message. */
export function defectMessage(ownMessage: string): string {
  return `defect in the ${metadata.name} provider: ${ownMessage}`;
}

/**
 * The operation failed, and the engine has nothing new to record, for example after a wrong setting or a failed Read.
 */
export class OperationFailed extends Error {
  override readonly name: string = "OperationFailed";
  /** The lines of the message. Each is shown as one line, even if it contains a line break. */
  readonly lines: readonly string[];
  constructor(message: string | readonly string[], options?: ErrorOptions) {
    const lines = [message].flat();
    super(lines.join("\n"), options);
    this.lines = lines;
  }
}

/** The operation was canceled (Ctrl-C) before any request was sent that changes something. */
export class OperationCanceled extends OperationFailed {
  override readonly name = "OperationCanceled";
  constructor() {
    super("canceled before anything was changed");
  }
}

/** The instance that an operation asks for does not exist. */
export class NotFound extends OperationFailed {
  override readonly name = "NotFound";
}

/**
 * The service has accepted the instance, but it is not ready, or not all of it could be recorded. No created
 * instance is lost (G1): the engine still gets the id and the state, records both, and reads the instance before the
 * next update.
 */
export class InstanceUnfinished extends Error {
  override readonly name = "InstanceUnfinished";
  constructor(
    readonly id: string,
    readonly state: { inputs: PropertyMap; outputs: PropertyMap },
    readonly reasons: readonly string[],
  ) {
    super(reasons.join("; "));
  }
}
