/** The one place that turns errors into gRPC statuses. */
import { Metadata, status, type ServiceError } from "@grpc/grpc-js";
import type { Message } from "google-protobuf";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import {
  ConfigureErrorMissingKeys,
  ErrorResourceInitFailed,
} from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import {
  defect,
  InstanceUnfinished,
  MissingSettings,
  NotFound,
  OperationCanceled,
  OperationFailed,
} from "../errors";
import type { Redactor } from "../redaction";
import { truncate } from "./clip";
import { InvalidMessage } from "./decode";
import { fitState } from "./fitState";
import { textToWire } from "./wire";

/** What grpc-js takes as the end of a call that failed. */
export type Failure = Pick<ServiceError, "code" | "details"> & { metadata?: Metadata };

export interface FailureContext {
  readonly redactor: Redactor;
  /** Takes the stack of a defect, which is no help to a person. */
  debug(text: string): void;
}

/** Never throws: an error must not get lost on its way to the engine. */
export function toFailure(error: unknown, context: FailureContext): Failure {
  try {
    return translate(error, context);
  } catch (second) {
    context.debug(`an error could not be reported: ${describe(second).stack}`);
    return { code: status.INTERNAL, details: text(defect(describe(error).message), context) };
  }
}

function translate(error: unknown, context: FailureContext): Failure {
  if (error instanceof InstanceUnfinished) return unfinished(error, context);
  if (error instanceof MissingSettings) return missingSettings(error, context);
  if (error instanceof OperationFailed) {
    return { code: codeOf(error), details: text(error.lines, context) };
  }
  if (error instanceof InvalidMessage) {
    return { code: status.INVALID_ARGUMENT, details: text(error.message, context) };
  }
  const { message, stack } = describe(error);
  context.debug(stack);
  return { code: status.INTERNAL, details: text(defect(message), context) };
}

function codeOf(error: OperationFailed): status {
  if (error instanceof OperationCanceled) return status.CANCELLED;
  return error instanceof NotFound ? status.NOT_FOUND : status.FAILED_PRECONDITION;
}

function missingSettings(error: MissingSettings, context: FailureContext): Failure {
  const detail = new ConfigureErrorMissingKeys();
  for (const { name, description } of error.settings) {
    const key = new ConfigureErrorMissingKeys.MissingKey();
    key.setName(name);
    key.setDescription(text(description, context));
    detail.addMissingkeys(key);
  }
  const message = text(error.message, context);
  return withDetail(status.FAILED_PRECONDITION, message, {
    type: "pulumirpc.ConfigureErrorMissingKeys",
    detail,
  });
}

/**
 * G1: the engine records id and state, reads the instance again before the next update
 * (`refresh_before_update`), and so goes on with the same one.
 */
function unfinished(error: InstanceUnfinished, context: FailureContext): Failure {
  const message = text(error.message, context);
  const detail = new ErrorResourceInitFailed();
  detail.setId(textToWire(error.id));
  // A property that can't be sent is left out rather than allowed to take the id with it.
  const { inputs, outputs, leftOut } = fitState(error.state);
  const reasons = leftOut.length > 0 ? [...error.reasons, whyLeftOut(leftOut)] : error.reasons;
  detail.setReasonsList(reasons.map((reason) => text(reason, context)));
  detail.setRefreshBeforeUpdate(true);
  detail.setProperties(outputs);
  detail.setInputs(inputs);
  return withDetail(status.UNKNOWN, message, { type: "pulumirpc.ErrorResourceInitFailed", detail });
}

function whyLeftOut(names: readonly string[]): string {
  return `${names.join(", ")} is left out of its state, which is too large to be sent whole; the next \`pulumi up\` records what the program says`;
}

function withDetail(
  code: status,
  message: string,
  { type, detail }: { type: string; detail: Message },
): Failure {
  const any = new Any();
  any.pack(detail.serializeBinary(), type);
  const whole = new Status();
  whole.setCode(code);
  whole.setMessage(message);
  whole.addDetails(any);
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(whole.serializeBinary()));
  return { code, details: message, metadata };
}

function text(lines: string | readonly string[], { redactor }: FailureContext): string {
  const cleaned = [lines].flat().map((line) => redactor.redact(line));
  return truncate(cleaned.join("\n"));
}

/** Anything can be thrown. */
export function describe(error: unknown): { message: string; stack: string } {
  if (error instanceof Error)
    return { message: error.message, stack: error.stack ?? error.message };
  const message = typeof error === "string" ? error : `something other than an error was thrown`;
  return { message, stack: message };
}
