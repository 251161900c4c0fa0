/** Reads the errors of failed calls as the engine does. */
import type { ServiceError } from "@grpc/grpc-js";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import type { PropertyMap } from "../../pulumi/propertyValue";
import { decodeProperties } from "../properties";

/** The error of a failed call, with the content of its status details. */
export class CallFailed extends Error {
  override readonly name = "CallFailed";
  constructor(
    readonly code: number,
    message: string,
    readonly unfinished: Unfinished | undefined,
  ) {
    super(message);
  }
}

/** The content of `ErrorResourceInitFailed`: what the engine records for an unfinished instance. */
export interface Unfinished {
  id: string;
  inputs: PropertyMap;
  outputs: PropertyMap;
  reasons: string[];
  refreshBeforeUpdate: boolean;
}

/** Returns the error for a failed call. */
export function failed(error: ServiceError): CallFailed {
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  const details = Buffer.isBuffer(bytes) ? Status.deserializeBinary(bytes).getDetailsList() : [];
  const initFailed = details[0]?.unpack<ErrorResourceInitFailed>(
    (detail) => ErrorResourceInitFailed.deserializeBinary(detail),
    "pulumirpc.ErrorResourceInitFailed",
  );
  const unfinished = initFailed && {
    id: initFailed.getId(),
    inputs: decodeProperties(initFailed.getInputs()),
    outputs: decodeProperties(initFailed.getProperties()),
    reasons: initFailed.getReasonsList(),
    refreshBeforeUpdate: initFailed.getRefreshBeforeUpdate(),
  };
  return new CallFailed(error.code, error.details, unfinished ?? undefined);
}
