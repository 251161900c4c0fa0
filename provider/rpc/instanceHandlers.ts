/** The handlers of the calls about an Instance of the program or of the state. */
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import type { IResourceProviderServer } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import type { Provider } from "../pulumi/calls";
import {
  readAutonaming,
  readDiffRequest,
  readTimeoutSeconds,
  readUrn,
  toCheckReply,
  toDiffReply,
  type Clean,
} from "./messages";
import { decodeProperties, encodeProperties } from "./properties";
import type { ProviderServer } from "./server";

/** Returns the handlers of Check, Diff, Create, Update, Read and Delete. Only a Create notices a caller that goes: no state has its id. */
export function instanceHandlers(server: ProviderServer, clean: Clean) {
  return {
    check: server.withProvider(async (provider, request: pb.CheckRequest) => {
      const { inputs, failures } = await provider.check({
        urn: readUrn(request),
        olds: decodeProperties(request.getOlds()),
        news: decodeProperties(request.getNews()),
        randomSeed: request.getRandomseed_asU8(),
        autonaming: readAutonaming(request),
      });
      return toCheckReply(inputs, failures, clean);
    }),
    diff: server.withProvider(async (provider, request: pb.DiffRequest) =>
      toDiffReply(await provider.diff(readDiffRequest(request))),
    ),
    create: server.whileEngineWaits(server.withProvider(create)),
    update: server.withProvider(update),
    read: server.withProvider(read),
    delete: server.withProvider(async (provider, request: pb.DeleteRequest) => {
      await provider.delete({
        urn: readUrn(request),
        id: request.getId(),
        oldInputs: decodeProperties(request.getOldInputs()),
        oldOutputs: decodeProperties(request.getProperties()),
        timeoutSeconds: readTimeoutSeconds(request),
      });
      return new Empty();
    }),
  } satisfies Partial<IResourceProviderServer>;
}

async function create(provider: Provider, request: pb.CreateRequest): Promise<pb.CreateResponse> {
  const preview = request.getPreview();
  const { id, outputs, refreshBeforeUpdate } = await provider.create({
    urn: readUrn(request),
    inputs: decodeProperties(request.getProperties()),
    preview,
    timeoutSeconds: readTimeoutSeconds(request),
  });
  return new pb.CreateResponse()
    .setId(id)
    .setProperties(encodeProperties(outputs, preview ? "preview" : "final"))
    .setRefreshBeforeUpdate(refreshBeforeUpdate);
}

async function update(provider: Provider, request: pb.UpdateRequest): Promise<pb.UpdateResponse> {
  const preview = request.getPreview();
  const { outputs, refreshBeforeUpdate } = await provider.update({
    ...readDiffRequest(request),
    timeoutSeconds: readTimeoutSeconds(request),
    preview,
  });
  return new pb.UpdateResponse()
    .setProperties(encodeProperties(outputs, preview ? "preview" : "final"))
    .setRefreshBeforeUpdate(refreshBeforeUpdate);
}

async function read(provider: Provider, request: pb.ReadRequest): Promise<pb.ReadResponse> {
  const found = await provider.read({
    urn: readUrn(request),
    id: request.getId(),
    inputs: decodeProperties(request.getInputs()),
    outputs: decodeProperties(request.getProperties()),
    timeoutSeconds: readTimeoutSeconds(request),
  });
  // A reply without id and properties means that the instance is gone.
  if (!found) return new pb.ReadResponse();
  return new pb.ReadResponse()
    .setId(found.id)
    .setInputs(encodeProperties(found.inputs, "final"))
    .setProperties(encodeProperties(found.outputs, "final"))
    .setRefreshBeforeUpdate(found.refreshBeforeUpdate);
}
