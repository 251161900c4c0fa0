import type { Metadata, ServiceError } from "@grpc/grpc-js";
import {
  ConfigureErrorMissingKeys,
  ErrorResourceInitFailed,
} from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import type { PropertyMap } from "../../propertyValue";
import { decodeProperties } from "../properties";

/** A call that failed, with what its details say. */
export class CallFailed extends Error {
  override readonly name = "CallFailed";
  constructor(
    readonly code: number,
    message: string,
    readonly unfinished: Unfinished | undefined,
    readonly missingKeys: { name: string; description: string }[],
  ) {
    super(message);
  }
}

/** `ErrorResourceInitFailed`: what the engine keeps of an instance that is not as it should be. */
export interface Unfinished {
  id: string;
  inputs: PropertyMap;
  outputs: PropertyMap;
  reasons: string[];
  refreshBeforeUpdate: boolean;
}

/** Reads a failed call as the engine does. */
export function failed(error: ServiceError): CallFailed {
  const details = statusOf(error.metadata)?.getDetailsList() ?? [];
  let unfinished: Unfinished | undefined;
  let missingKeys: CallFailed["missingKeys"] = [];
  for (const detail of details) {
    const init = detail.unpack<ErrorResourceInitFailed>(
      (bytes) => ErrorResourceInitFailed.deserializeBinary(bytes),
      "pulumirpc.ErrorResourceInitFailed",
    );
    if (init) {
      unfinished = {
        id: init.getId(),
        inputs: decodeProperties(init.getInputs()),
        outputs: decodeProperties(init.getProperties()),
        reasons: init.getReasonsList(),
        refreshBeforeUpdate: init.getRefreshBeforeUpdate(),
      };
    }
    const missing = detail.unpack<ConfigureErrorMissingKeys>(
      (bytes) => ConfigureErrorMissingKeys.deserializeBinary(bytes),
      "pulumirpc.ConfigureErrorMissingKeys",
    );
    if (missing) missingKeys = missing.getMissingkeysList().map((key) => key.toObject());
  }
  return new CallFailed(error.code, error.details, unfinished, missingKeys);
}

function statusOf(metadata: Metadata): Status | undefined {
  const [bytes] = metadata.get("grpc-status-details-bin");
  return Buffer.isBuffer(bytes) ? Status.deserializeBinary(bytes) : undefined;
}
