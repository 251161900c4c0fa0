/** Turns errors into gRPC statuses. */
import { Metadata, status } from "@grpc/grpc-js";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import {
  defectMessage,
  InstanceUnfinished,
  NotFound,
  OperationCanceled,
  OperationFailed,
} from "../errors";
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
      return { code: grpcStatusOf(error), details: log.clean(...error.lines) };
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

function grpcStatusOf(error: OperationFailed): status {
  if (error instanceof OperationCanceled) return status.CANCELLED;
  return error instanceof NotFound ? status.NOT_FOUND : status.FAILED_PRECONDITION;
}

/**
 * The status makes the engine record the instance's id and state, so that no created instance is lost (G1), and read
 * the instance before the next update, which then continues with it.
 */
function unfinishedFailure(error: InstanceUnfinished, log: EngineLog): CallFailure {
  const { inputs, outputs } = error.state;
  const details = log.clean(...error.lines);
  const unfinished = new ErrorResourceInitFailed()
    .setId(error.id)
    .setReasonsList([details])
    .setRefreshBeforeUpdate(true)
    .setProperties(encodeProperties(outputs, "final"))
    .setInputs(encodeProperties(inputs, "final"));
  const detail = new Any();
  detail.pack(unfinished.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const code = status.UNKNOWN;
  const richStatus = new Status().setCode(code).setMessage(details).setDetailsList([detail]);
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(richStatus.serializeBinary()));
  return { code, details, metadata };
}

/** Returns message and stack of a thrown value, which may be no Error. */
export function describeError(error: unknown): { message: string; stack: string } {
  const text = typeof error === "string" ? error : "something other than an error was thrown";
  const { message, stack = message } = error instanceof Error ? error : { message: text };
  return { message, stack };
}
