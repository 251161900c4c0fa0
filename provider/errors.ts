/**
 * The ways in which an operation can fail. `rpc/errors.ts` turns them into gRPC; any other error that
 * reaches it is a defect of the provider, and is reported as one.
 */
import metadata from "../metadata.json";
import type { PropertyMap } from "./propertyValue";

/** The message of any other error. */
export function defectMessage(what: string): string {
  return `defect in the ${metadata.name} provider: ${what}`;
}

/** The operation failed, and has nothing for the engine to keep: wrong settings, a failed Read. */
export class OperationFailed extends Error {
  override readonly name: string = "OperationFailed";
  /** Each is shown as one line, whatever the texts in it. */
  readonly lines: readonly string[];
  constructor(message: string | readonly string[], options?: ErrorOptions) {
    const lines = [message].flat();
    super(lines.join("\n"), options);
    this.lines = lines;
  }
}

/** Stopped by the person (Ctrl-C) before anything was sent that changes anything. */
export class OperationCanceled extends OperationFailed {
  override readonly name = "OperationCanceled";
  constructor() {
    super("canceled before anything was changed");
  }
}

/** The instance that a function asks for does not exist. */
export class NotFound extends OperationFailed {
  override readonly name = "NotFound";
}

/** Required settings are missing. The engine names each with the `pulumi config set` that sets it. */
export class MissingSettings extends OperationFailed {
  override readonly name = "MissingSettings";
  constructor(readonly settings: readonly { name: string; description: string }[]) {
    super(`missing configuration: ${settings.map((setting) => setting.name).join(", ")}`);
  }
}

/**
 * The instance exists at the service, but is not as it should be. The engine still gets id and state (G1),
 * records them, and reads the instance before the next update.
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
