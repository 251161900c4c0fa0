/** Turns errors into gRPC statuses, for the server. No other file does so. */
import { Metadata, status, type ServiceError } from "@grpc/grpc-js";
import type { Message } from "google-protobuf";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import {
  defectMessage,
  InstanceUnfinished,
  NotFound,
  OperationCanceled,
  OperationFailed,
} from "../errors";
import { hasSecret, type PropertyMap } from "../propertyValue";
import type { Redactor } from "../redaction";
import { encodeProperties, InvalidMessage } from "./properties";

/** What grpc-js needs to end a call that failed. */
export type CallFailure = Pick<ServiceError, "code" | "details"> & { metadata?: Metadata };

/** What `toCallFailure` needs to translate an error. */
export interface FailureContext {
  readonly redactor: Redactor;
  /** Writes a debug message. The stack of a defect goes there, because it does not help the user. */
  debug(text: string): void;
}

/** Returns the status of a call that failed with this error. It never throws, so that no error gets lost. */
export function toCallFailure(error: unknown, context: FailureContext): CallFailure {
  try {
    return translate(error, context);
  } catch (translationError) {
    context.debug(`an error could not be reported: ${describeError(translationError).stack}`);
    return defectFailure(describeError(error).message, context);
  }
}

function translate(error: unknown, context: FailureContext): CallFailure {
  if (error instanceof InstanceUnfinished) return unfinishedFailure(error, context);
  if (error instanceof OperationFailed) {
    return { code: codeOf(error), details: formatMessage(error.lines, context) };
  }
  if (error instanceof InvalidMessage) {
    return { code: status.INVALID_ARGUMENT, details: formatMessage([error.message], context) };
  }
  const { message, stack } = describeError(error);
  context.debug(stack);
  return defectFailure(message, context);
}

function codeOf(error: OperationFailed): status {
  if (error instanceof OperationCanceled) return status.CANCELLED;
  return error instanceof NotFound ? status.NOT_FOUND : status.FAILED_PRECONDITION;
}

function defectFailure(message: string, context: FailureContext): CallFailure {
  return { code: status.INTERNAL, details: formatMessage([defectMessage(message)], context) };
}

/**
 * Returns a status that makes the engine record the instance's id and state, so that no created instance is lost (G1).
 * The engine also reads the instance before the next update (`refresh_before_update`), and the update then continues with
 * the same instance.
 */
function unfinishedFailure(error: InstanceUnfinished, context: FailureContext): CallFailure {
  const { inputs, outputs, leftOut } = fitState(error.state);
  const reasons = [...error.reasons];
  if (leftOut.length > 0) {
    reasons.push(
      `${leftOut.join(", ")} was left out of the state of the instance, because the whole state is too large to be sent; the next \`pulumi up\` stores what the program says in the state`,
    );
  }
  return withDetail(
    status.UNKNOWN,
    formatMessage([error.message], context),
    "pulumirpc.ErrorResourceInitFailed",
    new ErrorResourceInitFailed()
      .setId(error.id)
      .setReasonsList(reasons.map((reason) => formatMessage([reason], context)))
      .setRefreshBeforeUpdate(true)
      .setProperties(outputs)
      .setInputs(inputs),
  );
}

function withDetail(code: status, message: string, type: string, detail: Message): CallFailure {
  const packedDetail = new Any();
  packedDetail.pack(detail.serializeBinary(), type);
  const richStatus = new Status().setCode(code).setMessage(message).setDetailsList([packedDetail]);
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(richStatus.serializeBinary()));
  return { code, details: message, metadata };
}

/**
 * The maximum size of inputs and outputs together. Both are sent twice in one HTTP/2 trailer, in Base64 (measured). A
 * trailer of more than about 16 MB breaks the connection, and with it every call on the connection.
 */
const maxStateBytes = 4 * 1024 * 1024;

/**
 * Returns the state of an unfinished instance as Structs, without the values that can't be sent. If the state
 * is too large, its largest properties are left out. Secrets are left out first, because user data is a secret and is
 * usually the only large input. A property is left out of both inputs and outputs, but never if its name begins with "__". The next
 * Diff treats it like a property that an import could not read: the program's value is recorded, and the instance is
 * not replaced. `leftOut` names these properties.
 */
export function fitState(state: { inputs: PropertyMap; outputs: PropertyMap }): {
  inputs: Struct;
  outputs: Struct;
  leftOut: string[];
} {
  const inputs = encodeProperties(state.inputs, "salvage");
  const outputs = encodeProperties(state.outputs, "salvage");
  const bytesOf = (message: Message | undefined) => message?.serializeBinary().length ?? 0;
  const keys = new Set([...Object.keys(state.inputs), ...Object.keys(state.outputs)]);
  const properties = [...keys]
    .filter((key) => !key.startsWith("__"))
    .map((key) => ({
      key,
      isSecret: hasSecret(state.inputs[key]) || hasSecret(state.outputs[key]),
      bytes: bytesOf(inputs.getFieldsMap().get(key)) + bytesOf(outputs.getFieldsMap().get(key)),
    }))
    .sort((a, b) => Number(b.isSecret) - Number(a.isSecret) || b.bytes - a.bytes);

  const leftOut: string[] = [];
  let bytes = bytesOf(inputs) + bytesOf(outputs);
  for (const property of properties) {
    if (bytes <= maxStateBytes) break;
    for (const struct of [inputs, outputs]) struct.getFieldsMap().del(property.key);
    leftOut.push(property.key);
    bytes -= property.bytes;
  }
  return { inputs, outputs, leftOut };
}

/** Joins the lines to a message without secrets that is short enough to be sent. */
function formatMessage(lines: readonly string[], { redactor }: FailureContext): string {
  return truncate(lines.map((line) => redactor.redact(line)).join("\n"));
}

/**
 * The length of the longest message, in UTF-16 units. An error message is sent twice in HTTP/2 trailers,
 * percent-encoded as the message of the status and again in its details, and trailers are not meant for pages of
 * text.
 */
export const maxMessageLength = 4096;

/** Returns the text, cut to `maxMessageLength` with an ellipsis if it is longer. No surrogate pair is cut in two. */
export function truncate(text: string): string {
  if (text.length <= maxMessageLength) return text;
  return `${text.slice(0, maxMessageLength - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Returns message and stack of a thrown value, which may be something other than an Error. */
export function describeError(error: unknown): { message: string; stack: string } {
  if (error instanceof Error) {
    return { message: error.message, stack: error.stack ?? error.message };
  }
  const message = typeof error === "string" ? error : "something other than an error was thrown";
  return { message, stack: message };
}
