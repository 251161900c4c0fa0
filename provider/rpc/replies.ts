/** The provider's answers as the engine's messages. Throws `Unencodable` only. */
import {
  CheckFailure,
  CheckResponse,
  ConfigureResponse,
  CreateResponse,
  DiffResponse,
  InvokeResponse,
  ListResponse,
  PropertyDiff,
  ProviderHandshakeResponse,
  ReadResponse,
  UpdateResponse,
} from "@pulumi/pulumi/proto/provider_pb";
import type { PropertyMap } from "../propertyValue";
import type * as requests from "../requests";
import { encodeProperties } from "./encode";
import { textToWire } from "./wire";

/** Cleans what the provider says of a failure (G8). */
export type Redact = (text: string) => string;

export function handshakeReply(): ProviderHandshakeResponse {
  const reply = new ProviderHandshakeResponse();
  reply.setAcceptSecrets(true);
  reply.setAcceptResources(true);
  reply.setAcceptOutputs(true);
  reply.setSupportsAutonamingConfiguration(true);
  return reply;
}

/** The engine wants the same once more of Configure. */
export function configureReply(): ConfigureResponse {
  const reply = new ConfigureResponse();
  reply.setAcceptsecrets(true);
  reply.setAcceptresources(true);
  reply.setAcceptoutputs(true);
  reply.setSupportspreview(true);
  reply.setSupportsAutonamingConfiguration(true);
  return reply;
}

export function checkReply(answer: requests.CheckResponse, redact: Redact): CheckResponse {
  const reply = new CheckResponse();
  // Check runs in updates too, where its answer is still allowed to hold unknown values.
  reply.setInputs(encodeProperties(answer.inputs, "preview"));
  reply.setFailuresList(answer.failures.map((failure) => checkFailure(failure, redact)));
  return reply;
}

function checkFailure({ property, reason }: requests.CheckFailure, redact: Redact): CheckFailure {
  const failure = new CheckFailure();
  failure.setProperty(redact(property));
  failure.setReason(redact(reason));
  return failure;
}

const diffKinds: Readonly<Record<requests.DiffKind, PropertyDiff.Kind>> = {
  add: PropertyDiff.Kind.ADD,
  "add-replace": PropertyDiff.Kind.ADD_REPLACE,
  delete: PropertyDiff.Kind.DELETE,
  "delete-replace": PropertyDiff.Kind.DELETE_REPLACE,
  update: PropertyDiff.Kind.UPDATE,
  "update-replace": PropertyDiff.Kind.UPDATE_REPLACE,
};

export function diffReply(answer: requests.DiffResponse): DiffResponse {
  const changes = Object.entries(answer.detailed);
  const reply = new DiffResponse();
  const { DIFF_NONE, DIFF_SOME } = DiffResponse.DiffChanges;
  reply.setChanges(changes.length === 0 ? DIFF_NONE : DIFF_SOME);
  reply.setDiffsList(changes.map(([name]) => name));
  reply.setReplacesList(changes.filter(([, kind]) => isReplacement(kind)).map(([name]) => name));
  reply.setDeletebeforereplace(answer.deleteBeforeReplace);
  // Without it, the engine shows every output as changed.
  reply.setHasdetaileddiff(true);
  for (const [name, kind] of changes) {
    const diff = new PropertyDiff();
    diff.setKind(diffKinds[kind]);
    diff.setInputdiff(true);
    reply.getDetaileddiffMap().set(name, diff);
  }
  return reply;
}

function isReplacement(kind: requests.DiffKind): boolean {
  return kind.endsWith("-replace");
}

/** An empty id is for previews only: the engine would take the reply for a failure (G1). */
export function createReply(answer: requests.CreateResponse, preview: boolean): CreateResponse {
  const reply = new CreateResponse();
  reply.setId(textToWire(answer.id));
  reply.setProperties(encodeProperties(answer.outputs, strictness(preview)));
  return reply;
}

export function updateReply(outputs: PropertyMap, preview: boolean): UpdateResponse {
  const reply = new UpdateResponse();
  reply.setProperties(encodeProperties(outputs, strictness(preview)));
  return reply;
}

/** Gone: a reply without id and without properties. */
export function readReply(answer: requests.ReadResponse): ReadResponse {
  const reply = new ReadResponse();
  if (!answer) return reply;
  if (answer.id === "") throw new Error("Read found the instance but gave no id");
  reply.setId(textToWire(answer.id));
  reply.setInputs(encodeProperties(answer.inputs, "final"));
  reply.setProperties(encodeProperties(answer.outputs, "final"));
  return reply;
}

export function invokeReply(answer: requests.InvokeResponse, redact: Redact): InvokeResponse {
  const reply = new InvokeResponse();
  reply.setReturn(encodeProperties(answer.outputs, "final"));
  reply.setFailuresList(answer.failures.map((failure) => checkFailure(failure, redact)));
  return reply;
}

export function listReply({ id, name }: requests.ListedResource): ListResponse {
  const result = new ListResponse.Result();
  result.setId(textToWire(id));
  result.setName(textToWire(name));
  const reply = new ListResponse();
  reply.setResult(result);
  return reply;
}

function strictness(preview: boolean): "preview" | "final" {
  return preview ? "preview" : "final";
}
