/** The engine's requests in the provider's own types. Throws `InvalidMessage` only. */
import type * as pb from "@pulumi/pulumi/proto/provider_pb";
import type * as requests from "../requests";
import { InvalidMessage, decodeProperties } from "./decode";
import { forProvider } from "./providerInputs";
import { textFromWire, unknownTexts } from "./wire";

/** What this provider has, to tell from what it has not. */
export interface Capabilities {
  readonly resources: readonly string[];
  readonly functions: readonly string[];
}

export function checkConfigRequest(request: pb.CheckRequest): requests.CheckConfigRequest {
  return { news: forProvider(decodeProperties(request.getNews())) };
}

export function configureRequest(request: pb.ConfigureRequest): requests.ConfigureRequest {
  return {
    urn: request.getUrn() || undefined,
    scope: scopeOf(request.getId()),
    args: forProvider(decodeProperties(request.getArgs())),
  };
}

function scopeOf(id: string | undefined): requests.Scope {
  if (!id) throw new InvalidMessage("Configure gives no id of the provider resource");
  return unknownTexts.has(id) ? { kind: "unknown" } : { kind: "known", id };
}

export function checkRequest(
  request: pb.CheckRequest,
  capabilities: Capabilities,
): requests.CheckRequest {
  mustHaveResource(request, capabilities);
  const autonaming = request.getAutonaming();
  return {
    urn: request.getUrn(),
    olds: decodeProperties(request.getOlds()),
    news: decodeProperties(request.getNews()),
    randomSeed: request.getRandomseed_asU8(),
    autonaming: autonaming && {
      proposedName: autonaming.getProposedName(),
      mode: autonamingMode(autonaming.getMode()),
    },
  };
}

function autonamingMode(mode: number): requests.AutonamingMode {
  const known = (["propose", "enforce", "disable"] as const)[mode];
  if (known === undefined) throw new InvalidMessage(`autonaming mode ${mode} is not known`);
  return known;
}

/** An Update tells of the same two sides. */
export function diffRequest(
  request: pb.DiffRequest | pb.UpdateRequest,
  capabilities: Capabilities,
): requests.DiffRequest {
  mustHaveResource(request, capabilities);
  return {
    urn: request.getUrn(),
    id: textFromWire(request.getId()),
    oldInputs: decodeProperties(request.getOldInputs()),
    oldOutputs: decodeProperties(request.getOlds()),
    // The engine has applied ignoreChanges already.
    news: decodeProperties(request.getNews()),
  };
}

export function createRequest(
  request: pb.CreateRequest,
  capabilities: Capabilities,
): requests.CreateRequest {
  mustHaveResource(request, capabilities);
  return {
    urn: request.getUrn(),
    inputs: decodeProperties(request.getProperties()),
    timeoutSeconds: timeoutOf(request),
    preview: request.getPreview(),
  };
}

export function updateRequest(
  request: pb.UpdateRequest,
  capabilities: Capabilities,
): requests.UpdateRequest {
  return {
    ...diffRequest(request, capabilities),
    timeoutSeconds: timeoutOf(request),
    preview: request.getPreview(),
  };
}

export function readRequest(
  request: pb.ReadRequest,
  capabilities: Capabilities,
): requests.ReadRequest {
  mustHaveResource(request, capabilities);
  return {
    urn: request.getUrn(),
    id: textFromWire(request.getId()),
    // Absent and empty mean different things: an import, a `.get()`.
    inputs: request.hasInputs() ? decodeProperties(request.getInputs()) : undefined,
    outputs: request.hasProperties() ? decodeProperties(request.getProperties()) : undefined,
    timeoutSeconds: timeoutOf(request),
  };
}

export function deleteRequest(
  request: pb.DeleteRequest,
  capabilities: Capabilities,
): requests.DeleteRequest {
  mustHaveResource(request, capabilities);
  return {
    urn: request.getUrn(),
    id: textFromWire(request.getId()),
    oldInputs: decodeProperties(request.getOldInputs()),
    oldOutputs: decodeProperties(request.getProperties()),
    timeoutSeconds: timeoutOf(request),
  };
}

export function invokeRequest(
  request: pb.InvokeRequest,
  capabilities: Capabilities,
): requests.InvokeRequest {
  const token = request.getTok();
  mustHave("function", token, capabilities.functions);
  return { token, args: decodeProperties(request.getArgs()) };
}

export function listRequest(
  request: pb.ListRequest,
  capabilities: Capabilities,
): requests.ListRequest {
  mustHave("resource", request.getToken(), capabilities.resources);
  return { query: decodeProperties(request.getQuery()), limit: request.getLimit() };
}

/** What is no span of time is none given; an endless one is. */
function timeoutOf(request: { getTimeout(): number }): number {
  const seconds = request.getTimeout();
  return seconds > 0 ? seconds : 0;
}

function mustHaveResource(request: { getType(): string }, capabilities: Capabilities): void {
  mustHave("resource", request.getType(), capabilities.resources);
}

function mustHave(what: string, token: string, known: readonly string[]): void {
  if (known.includes(token)) return;
  throw new InvalidMessage(
    `this provider has no ${what} ${JSON.stringify(token)}; it has ${known.join(", ")}`,
  );
}
