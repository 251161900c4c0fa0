/** Turns errors into gRPC statuses. */
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
  /** Writes the stack of a defect to the debug log, because it does not help the user. */
  debug(text: string): void;
}

/** Returns the status of a call that failed with this error. Never throws, so that no error gets lost. */
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
 * The status makes the engine record the instance's id and state, so that no created instance is lost (G1), and read
 * the instance before the next update, which then continues with it.
 */
function unfinishedFailure(error: InstanceUnfinished, context: FailureContext): CallFailure {
  const { inputs, outputs, leftOut } = fitState(error.state);
  const reasons = [...error.reasons];
  if (leftOut.length > 0) {
    reasons.push(
      `${leftOut.join(", ")} was left out of the state of the instance, because the whole state is too large to be sent; the next \`pulumi up\` stores what the program says in the state`,
    );
  }
  const unfinished = new ErrorResourceInitFailed()
    .setId(error.id)
    .setReasonsList(reasons.map((reason) => formatMessage([reason], context)))
    .setRefreshBeforeUpdate(true)
    .setProperties(outputs)
    .setInputs(inputs);
  const detail = new Any();
  detail.pack(unfinished.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const code = status.UNKNOWN;
  const details = formatMessage([error.message], context);
  const richStatus = new Status().setCode(code).setMessage(details).setDetailsList([detail]);
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(richStatus.serializeBinary()));
  return { code, details, metadata };
}

/**
 * Of inputs and outputs together, which are sent twice in one HTTP/2 trailer, in Base64 (measured). A trailer above
 * about 16 MB breaks the connection, and with it every call.
 */
const maxStateBytes = 4 * 1024 * 1024;

/**
 * Returns the state of an unfinished instance as Structs, without the values that can't be sent. If the state is too
 * large, the largest properties (`leftOut`) are missing in inputs and outputs, but never one that begins with "__".
 * Secrets go first, because user data is usually the only large input. The next Diff records the program's value of a
 * missing property, as after an import, and does not replace the instance.
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

function formatMessage(lines: readonly string[], { redactor }: FailureContext): string {
  return truncate(lines.map((line) => redactor.redact(line)).join("\n"));
}

/** In UTF-16 units. HTTP/2 trailers, in which an error message is sent twice, are not meant for pages of text. */
export const maxMessageLength = 4096;

/** Cuts the text to `maxMessageLength`, with an ellipsis, but not through a surrogate pair. */
export function truncate(text: string): string {
  if (text.length <= maxMessageLength) return text;
  return `${text.slice(0, maxMessageLength - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Returns message and stack of a thrown value, which may be no Error. */
export function describeError(error: unknown): { message: string; stack: string } {
  if (error instanceof Error) {
    return { message: error.message, stack: error.stack ?? error.message };
  }
  const message = typeof error === "string" ? error : "something other than an error was thrown";
  return { message, stack: message };
}
