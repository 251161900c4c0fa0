/**
 * The ways an operation can end other than well. `rpc/errors.ts` alone turns them into gRPC; any
 * other error that reaches it is a defect of ours and is reported as one.
 */
import metadata from "../metadata.json";
import type { PropertyMap } from "./propertyValue";

/** What a person is told of any other error. */
export function defect(what: string): string {
  return `defect in the ${metadata.name} provider: ${what}`;
}

/** Cannot go on, and nothing needs keeping: wrong settings, a refused request, a failed Read. */
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

/** A function's or lookup's target does not exist. */
export class NotFound extends OperationFailed {
  override readonly name = "NotFound";
}

/** Settings are missing (`compute:apiToken`); the engine names each with the `pulumi config set` that mends it. */
export class MissingSettings extends OperationFailed {
  override readonly name = "MissingSettings";
  constructor(readonly settings: readonly { name: string; description: string }[]) {
    super(`missing configuration: ${settings.map((setting) => setting.name).join(", ")}`);
  }
}

/**
 * The instance exists at the service, but is not as it should be: id and state go to the engine all
 * the same (G1), which records it, and reads it again before the next update.
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
