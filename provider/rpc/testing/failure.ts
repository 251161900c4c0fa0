/** Reads the errors of failed calls as the engine does. The test client uses it. */
import type { Metadata, ServiceError } from "@grpc/grpc-js";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import type { PropertyMap } from "../../propertyValue";
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

/** Returns the error for a failed call, with its details read as the engine reads them. */
export function failed(error: ServiceError): CallFailed {
  const details = statusOf(error.metadata)?.getDetailsList() ?? [];
  let unfinished: Unfinished | undefined;
  for (const detail of details) {
    const initFailed = detail.unpack<ErrorResourceInitFailed>(
      (bytes) => ErrorResourceInitFailed.deserializeBinary(bytes),
      "pulumirpc.ErrorResourceInitFailed",
    );
    if (initFailed) {
      unfinished = {
        id: initFailed.getId(),
        inputs: decodeProperties(initFailed.getInputs()),
        outputs: decodeProperties(initFailed.getProperties()),
        reasons: initFailed.getReasonsList(),
        refreshBeforeUpdate: initFailed.getRefreshBeforeUpdate(),
      };
    }
  }
  return new CallFailed(error.code, error.details, unfinished);
}

function statusOf(metadata: Metadata): Status | undefined {
  const [bytes] = metadata.get("grpc-status-details-bin");
  return Buffer.isBuffer(bytes) ? Status.deserializeBinary(bytes) : undefined;
}
