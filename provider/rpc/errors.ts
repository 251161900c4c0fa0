/** The one place that turns errors into gRPC statuses. */
import { Metadata, status, type ServiceError } from "@grpc/grpc-js";
import type { Message } from "google-protobuf";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import {
  ConfigureErrorMissingKeys,
  ErrorResourceInitFailed,
} from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import {
  defectMessage,
  InstanceUnfinished,
  MissingSettings,
  NotFound,
  OperationCanceled,
  OperationFailed,
} from "../errors";
import { hasSecret, type PropertyMap } from "../propertyValue";
import type { Redactor } from "../redaction";
import { encodeProperties, InvalidMessage } from "./properties";

/** What grpc-js takes as the end of a call that failed. */
export type CallFailure = Pick<ServiceError, "code" | "details"> & { metadata?: Metadata };

/** What the translation of an error needs. */
export interface FailureContext {
  readonly redactor: Redactor;
  /** Takes the stack of a defect, which is no help to a person. */
  debug(text: string): void;
}

/** The status of a call that failed with this error. Never throws, so that no error is lost on its way. */
export function toCallFailure(error: unknown, context: FailureContext): CallFailure {
  try {
    return translate(error, context);
  } catch (second) {
    context.debug(`an error could not be reported: ${describeError(second).stack}`);
    return defectFailure(describeError(error).message, context);
  }
}

function translate(error: unknown, context: FailureContext): CallFailure {
  if (error instanceof InstanceUnfinished) return unfinishedFailure(error, context);
  if (error instanceof MissingSettings) return missingSettingsFailure(error, context);
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

/** The engine names each missing setting with the `pulumi config set` that sets it. */
function missingSettingsFailure(error: MissingSettings, context: FailureContext): CallFailure {
  const keys = error.settings.map(({ name, description }) =>
    new ConfigureErrorMissingKeys.MissingKey()
      .setName(name)
      .setDescription(formatMessage([description], context)),
  );
  return withDetail(
    status.FAILED_PRECONDITION,
    formatMessage([error.message], context),
    "pulumirpc.ConfigureErrorMissingKeys",
    new ConfigureErrorMissingKeys().setMissingkeysList(keys),
  );
}

/**
 * G1: the engine records id and state, and reads the instance before the next update
 * (`refresh_before_update`), so that the update goes on with the same instance.
 */
function unfinishedFailure(error: InstanceUnfinished, context: FailureContext): CallFailure {
  const { inputs, outputs, leftOut } = fitState(error.state);
  const reasons = [...error.reasons];
  if (leftOut.length > 0) {
    reasons.push(
      `${leftOut.join(", ")} is left out of its state, which is too large to be sent whole; the next \`pulumi up\` records what the program says`,
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
  const any = new Any();
  any.pack(detail.serializeBinary(), type);
  const full = new Status().setCode(code).setMessage(message).setDetailsList([any]);
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(full.serializeBinary()));
  return { code, details: message, metadata };
}

/**
 * Inputs and outputs together. They travel in an HTTP/2 trailer, twice and in Base64. A trailer above some
 * 16 MB breaks the connection, with every call on it.
 */
const maxStateBytes = 4 * 1024 * 1024;

/**
 * The state of an unfinished instance as Structs, without what can't be sent. A state that is too large
 * loses its largest properties, secrets first: user data is the only large input, and a secret. They go
 * from both sides, as after an import, so that the next Diff records what the program says.
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
    for (const side of [inputs, outputs]) side.getFieldsMap().del(property.key);
    leftOut.push(property.key);
    bytes -= property.bytes;
  }
  return { inputs, outputs, leftOut };
}

function formatMessage(lines: readonly string[], { redactor }: FailureContext): string {
  return truncate(lines.map((line) => redactor.redact(line)).join("\n"));
}

/**
 * In UTF-16 units. An error's text travels in HTTP/2 trailers, percent-encoded and twice (as text and in
 * the status details), and trailers are not made for pages of text.
 */
export const maxMessageLength = 4096;

/** The text, cut to `maxMessageLength` with an ellipsis, never through the middle of a character. */
export function truncate(text: string): string {
  if (text.length <= maxMessageLength) return text;
  return `${text.slice(0, maxMessageLength - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Message and stack of whatever was thrown, which need not be an Error. */
export function describeError(error: unknown): { message: string; stack: string } {
  if (error instanceof Error) {
    return { message: error.message, stack: error.stack ?? error.message };
  }
  const message = typeof error === "string" ? error : "something other than an error was thrown";
  return { message, stack: message };
}
