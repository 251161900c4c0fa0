/** Turns errors into gRPC statuses. */
import { Metadata, status } from "@grpc/grpc-js";
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
import type { PropertyMap } from "../pulumi/propertyValue";
import type { EngineLog } from "./engineLog";
import { InvalidMessage } from "./messages";
import { encodeProperties } from "./properties";

/** What grpc-js needs to end a call that failed. */
export interface CallFailure {
  code: status;
  details: string;
  metadata?: Metadata;
}

/**
 * Returns the status of a call that failed with this error. Never throws, so that no error gets lost. The stack of a
 * defect is written to the debug log only, because it does not help the user.
 */
export function toCallFailure(error: unknown, log: EngineLog): CallFailure {
  try {
    if (error instanceof InstanceUnfinished) return unfinishedFailure(error, log);
    if (error instanceof OperationFailed) {
      return { code: statusOf(error), details: log.clean(...error.lines) };
    }
    if (error instanceof InvalidMessage) {
      return { code: status.INVALID_ARGUMENT, details: log.clean(error.message) };
    }
  } catch (translationError) {
    log.debug(`an error could not be reported: ${describeError(translationError).stack}`);
  }
  const { message, stack } = describeError(error);
  log.debug(stack);
  return { code: status.INTERNAL, details: log.clean(defectMessage(message)) };
}

function statusOf(error: OperationFailed): status {
  if (error instanceof OperationCanceled) return status.CANCELLED;
  return error instanceof NotFound ? status.NOT_FOUND : status.FAILED_PRECONDITION;
}

/**
 * The status makes the engine record the instance's id and state, so that no created instance is lost (G1), and read
 * the instance before the next update, which then continues with it.
 */
function unfinishedFailure(error: InstanceUnfinished, log: EngineLog): CallFailure {
  const { inputs, outputs, leftOut } = fitState(error.state);
  const details = log.clean(...error.lines);
  const reasons = [details];
  if (leftOut.length > 0) {
    reasons.push(
      `${leftOut.join(", ")} was left out of the state of the instance, because the whole state is too large to be sent; the next \`pulumi up\` stores what the program says in the state`,
    );
  }
  const unfinished = new ErrorResourceInitFailed()
    .setId(error.id)
    .setReasonsList(reasons)
    .setRefreshBeforeUpdate(true)
    .setProperties(outputs)
    .setInputs(inputs);
  const detail = new Any();
  detail.pack(unfinished.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const code = status.UNKNOWN;
  const richStatus = new Status().setCode(code).setMessage(details).setDetailsList([detail]);
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(richStatus.serializeBinary()));
  return { code, details, metadata };
}

/**
 * The maximum size of inputs and outputs together. They are sent twice in one HTTP/2 trailer, in Base64 (measured). A trailer
 * above about 16 MB breaks the connection, and with it every call.
 */
const maxStateBytes = 4 * 1024 * 1024;

/** The maximum size of a property in inputs or outputs. Hardly any property but a script is larger. */
const maxPropertyBytes = 64 * 1024;

/**
 * Returns the state of an unfinished instance as Structs, without the values that can't be sent. If the state is too
 * large, each property that is too large (`leftOut`) is missing in inputs and outputs, but never one that begins with "__".
 * The next Diff records the program's value of a missing property, as after an import, and does not replace the instance.
 */
export function fitState(state: { inputs: PropertyMap; outputs: PropertyMap }): {
  inputs: Struct;
  outputs: Struct;
  leftOut: string[];
} {
  const inputs = encodeProperties(state.inputs, "salvage");
  const outputs = encodeProperties(state.outputs, "salvage");
  const bytesOf = (message: Message | undefined) => message?.serializeBinary().length ?? 0;
  if (bytesOf(inputs) + bytesOf(outputs) <= maxStateBytes) return { inputs, outputs, leftOut: [] };
  const fields = [inputs.getFieldsMap(), outputs.getFieldsMap()];
  const leftOut = Object.keys({ ...state.inputs, ...state.outputs }).filter(
    (key) =>
      !key.startsWith("__") && fields.some((map) => bytesOf(map.get(key)) > maxPropertyBytes),
  );
  for (const map of fields) for (const key of leftOut) map.del(key);
  return { inputs, outputs, leftOut };
}

/** Returns message and stack of a thrown value, which may be no Error. */
export function describeError(error: unknown): { message: string; stack: string } {
  const text = typeof error === "string" ? error : "something other than an error was thrown";
  const { message, stack = message } = error instanceof Error ? error : { message: text };
  return { message, stack };
}
