/**
 * The lines that the recorder writes for each call and its answer. They contain no values of properties, so no
 * secrets (G8).
 */
import type { IncomingHttpHeaders } from "node:http2";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";

/** A line of the recorder's log. */
export interface LogLine {
  /** The process id of the recorder, which has one plugin. */
  process: number;
  event: "begins" | "call" | "answer" | "ends";
  /** The number of the call in its process. */
  call?: number;
  method?: string;
  /** The logical name of the resource: the last part of its URN. */
  resource?: string;
  preview?: boolean;
  /** Whether the call has an id. "unknown": Pulumi's unknown value, in a preview. */
  idKind?: IdKind;
  /** The id of the provider resource, in Configure. */
  scope?: string;
  /** Whether the call has old inputs, and then old outputs. New inputs are not logged. */
  inputs?: Existence;
  outputs?: Existence;
  /** The id of the session that made the outputs of the call or of the answer: their `__run` (provider/origin.ts). */
  stamp?: string;
  /** "lost": the engine was gone before the answer came. "nothing there": a Read found no instance. */
  answer?: "ok" | "failed" | "unfinished" | "nothing there" | "lost";
}

type IdKind = "known" | "none" | "unknown";

type Existence = "no" | "empty" | "given";

/** Pulumi's unknown value. */
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Describes a call. `body` is the request as the engine serialized it. */
export function describeCall(method: string, body: Uint8Array): Partial<LogLine> {
  switch (method) {
    case "CheckConfig":
    case "Check": {
      const request = pb.CheckRequest.deserializeBinary(body);
      return { method, resource: nameOf(request), inputs: presence(request.getOlds()) };
    }
    case "DiffConfig":
    case "Diff": {
      const request = pb.DiffRequest.deserializeBinary(body);
      return { method, ...describeOld(request, request.getOldInputs(), request.getOlds()) };
    }
    case "Configure": {
      const request = pb.ConfigureRequest.deserializeBinary(body);
      const scope = request.getId() ?? "";
      return { method, idKind: idKindOf(scope), scope };
    }
    case "Create": {
      const request = pb.CreateRequest.deserializeBinary(body);
      return { method, resource: nameOf(request), preview: request.getPreview() };
    }
    case "Update": {
      const request = pb.UpdateRequest.deserializeBinary(body);
      const description = describeOld(request, request.getOldInputs(), request.getOlds());
      return { method, ...description, preview: request.getPreview() };
    }
    case "Read": {
      const request = pb.ReadRequest.deserializeBinary(body);
      return { method, ...describeOld(request, request.getInputs(), request.getProperties()) };
    }
    case "Delete": {
      const request = pb.DeleteRequest.deserializeBinary(body);
      return { method, ...describeOld(request, request.getOldInputs(), request.getProperties()) };
    }
    default:
      return { method };
  }
}

/** Describes the answer to a call. */
export function describeAnswer(
  method: string,
  body: Uint8Array,
  trailers: IncomingHttpHeaders,
): Partial<LogLine> {
  if (trailers["grpc-status"] !== "0") return failure(trailers);
  switch (method) {
    case "Create":
      return {
        answer: "ok",
        ...stampIn(pb.CreateResponse.deserializeBinary(body).getProperties()),
      };
    case "Read": {
      const reply = pb.ReadResponse.deserializeBinary(body);
      if (reply.getId() === "") return { answer: "nothing there" };
      return { answer: "ok", ...stampIn(reply.getProperties()) };
    }
    case "Check": {
      const reply = pb.CheckResponse.deserializeBinary(body);
      return { answer: reply.getFailuresList().length > 0 ? "failed" : "ok" };
    }
    default:
      return { answer: "ok" };
  }
}

/** Describes a failure. An ErrorResourceInitFailed in its details means that the instance exists, but is unfinished. */
function failure(trailers: IncomingHttpHeaders): Partial<LogLine> {
  const details = trailers["grpc-status-details-bin"];
  if (typeof details !== "string") return { answer: "failed" };
  const [first] = Status.deserializeBinary(Buffer.from(details, "base64")).getDetailsList();
  if (!first?.getTypeUrl().endsWith("/pulumirpc.ErrorResourceInitFailed"))
    return { answer: "failed" };
  const unfinished = pb.ErrorResourceInitFailed.deserializeBinary(first.getValue_asU8());
  return { answer: "unfinished", ...stampIn(unfinished.getProperties()) };
}

/** A request about a resource in the state. */
interface OldResourceRequest {
  getUrn(): string;
  getId(): string;
}

function describeOld(
  request: OldResourceRequest,
  inputs: Struct | undefined,
  outputs: Struct | undefined,
): Partial<LogLine> {
  return {
    resource: nameOf(request),
    idKind: idKindOf(request.getId()),
    inputs: presence(inputs),
    outputs: presence(outputs),
    ...stampIn(outputs),
  };
}

function nameOf(request: { getUrn(): string }): string {
  return request.getUrn().split("::").pop() ?? "";
}

function idKindOf(id: string): IdKind {
  if (id === "") return "none";
  return id === unknown ? "unknown" : "known";
}

function presence(struct: Struct | undefined): Existence {
  if (!struct) return "no";
  return struct.getFieldsMap().getLength() === 0 ? "empty" : "given";
}

function stampIn(outputs: Struct | undefined): { stamp?: string } {
  const sessionId = outputs?.getFieldsMap().get("__run")?.getStringValue() ?? "";
  return sessionId === "" ? {} : { stamp: sessionId };
}
