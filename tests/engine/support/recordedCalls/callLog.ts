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
  process: number;
  event: "begins" | "call" | "answer" | "ends";
  /** The number of the call in its process. */
  call?: number;
  method?: string;
  /** The logical name of the resource: the last part of its URN. */
  of?: string;
  preview?: boolean;
  id?: "id" | "no id" | "id unknown";
  /** The id of the provider resource, in Configure. */
  scope?: string;
  /** Whether the call has old inputs. New inputs are not logged. */
  inputs?: Existence;
  outputs?: Existence;
  /** The session id `__run` in the outputs of the call or of the answer (provider/origin.ts). */
  stamp?: string;
  /** "lost": the engine was gone before the answer came. */
  answer?: "ok" | "failed" | "unfinished" | "nothing there" | "lost";
}

type Existence = "no" | "empty" | "given";

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Describes a call. `body` is the request as the engine serialized it. */
export function describeCall(method: string, body: Uint8Array): Partial<LogLine> {
  switch (method) {
    case "CheckConfig":
    case "Check": {
      const request = pb.CheckRequest.deserializeBinary(body);
      return { method, of: nameOf(request), inputs: presence(request.getOlds()) };
    }
    case "DiffConfig":
    case "Diff": {
      const request = pb.DiffRequest.deserializeBinary(body);
      return { method, ...olds(request, request.getOldInputs(), request.getOlds()) };
    }
    case "Configure": {
      const request = pb.ConfigureRequest.deserializeBinary(body);
      const scope = request.getId() ?? "";
      return { method, id: idOf(scope), scope };
    }
    case "Create": {
      const request = pb.CreateRequest.deserializeBinary(body);
      return { method, of: nameOf(request), preview: request.getPreview() };
    }
    case "Update": {
      const request = pb.UpdateRequest.deserializeBinary(body);
      const description = olds(request, request.getOldInputs(), request.getOlds());
      return { method, ...description, preview: request.getPreview() };
    }
    case "Read": {
      const request = pb.ReadRequest.deserializeBinary(body);
      return { method, ...olds(request, request.getInputs(), request.getProperties()) };
    }
    case "Delete": {
      const request = pb.DeleteRequest.deserializeBinary(body);
      return { method, ...olds(request, request.getOldInputs(), request.getProperties()) };
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
      return { answer: "ok", ...stamp(pb.CreateResponse.deserializeBinary(body).getProperties()) };
    case "Read": {
      const reply = pb.ReadResponse.deserializeBinary(body);
      if (reply.getId() === "") return { answer: "nothing there" };
      return { answer: "ok", ...stamp(reply.getProperties()) };
    }
    case "Check": {
      const reply = pb.CheckResponse.deserializeBinary(body);
      return { answer: reply.getFailuresList().length > 0 ? "failed" : "ok" };
    }
    default:
      return { answer: "ok" };
  }
}

/** Describes a failure. With an ErrorResourceInitFailed in its details, the instance exists and is not finished. */
function failure(trailers: IncomingHttpHeaders): Partial<LogLine> {
  const details = trailers["grpc-status-details-bin"];
  if (typeof details !== "string") return { answer: "failed" };
  const [first] = Status.deserializeBinary(Buffer.from(details, "base64")).getDetailsList();
  if (!first?.getTypeUrl().endsWith("/pulumirpc.ErrorResourceInitFailed"))
    return { answer: "failed" };
  const unfinished = pb.ErrorResourceInitFailed.deserializeBinary(first.getValue_asU8());
  return { answer: "unfinished", ...stamp(unfinished.getProperties()) };
}

interface Existing {
  getUrn(): string;
  getId(): string;
}

function olds(
  request: Existing,
  inputs: Struct | undefined,
  outputs: Struct | undefined,
): Partial<LogLine> {
  return {
    of: nameOf(request),
    id: idOf(request.getId()),
    inputs: presence(inputs),
    outputs: presence(outputs),
    ...stamp(outputs),
  };
}

function nameOf(request: { getUrn(): string }): string {
  return request.getUrn().split("::").pop() ?? "";
}

function idOf(id: string): "id" | "no id" | "id unknown" {
  if (id === "") return "no id";
  return id === unknown ? "id unknown" : "id";
}

function presence(struct: Struct | undefined): Existence {
  if (!struct) return "no";
  return struct.getFieldsMap().getLength() === 0 ? "empty" : "given";
}

function stamp(outputs: Struct | undefined): { stamp?: string } {
  const sessionId = outputs?.getFieldsMap().get("__run")?.getStringValue() ?? "";
  return sessionId === "" ? {} : { stamp: sessionId };
}
