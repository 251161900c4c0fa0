/** A gRPC client for tests that calls the plugin as the engine does. It rejects with `CallFailed`. */
import { credentials, type ServiceError } from "@grpc/grpc-js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { PluginAttach, type PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { Unknown, type PropertyMap } from "../../pulumi/propertyValue";
import { instanceToken } from "../../pulumi/names";
import type {
  CheckResponse,
  CreateResponse,
  StateReply,
  ListedInstance,
  ListResponse,
  ReadResponse,
  UpdateResponse,
} from "../../pulumi/calls";
import { decodeProperties, encodeProperties } from "../properties";
import { failed } from "./failure";

/** The URN that a call has unless the test names another. */
export const instanceUrn = `urn:pulumi:dev::project::${instanceToken}::web`;

/** The resource of a call. The default is the Instance `instanceUrn`. */
interface Target {
  urn?: string;
  type?: string;
}
/** An instance that is in the state. */
interface ExistingInstance extends Target {
  id: string;
  oldInputs?: PropertyMap;
  oldOutputs?: PropertyMap;
  timeoutSeconds?: number;
}

type Callback<Reply> = (error: ServiceError | null, reply: Reply) => void;

/** Makes a client of the plugin that listens on this port. */
export function connect(port: number): TestClient {
  return new TestClient(port);
}

/** Has a method for each call of the engine. */
export class TestClient {
  /** The generated client, for messages that a correct engine does not send. */
  readonly raw: ResourceProviderClient;

  constructor(port: number) {
    this.raw = new ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure(), {
      "grpc.max_receive_message_length": -1,
      "grpc.max_send_message_length": -1,
      "grpc.enable_http_proxy": 0,
      // Each client has a connection of its own, as each provider of an engine has.
      "grpc.use_local_subchannel_pool": 1,
    });
  }

  close(): void {
    this.raw.close();
  }

  async handshake(engineAddress = ""): Promise<pb.ProviderHandshakeResponse> {
    const request = new pb.ProviderHandshakeRequest().setEngineAddress(engineAddress);
    return call((done) => this.raw.handshake(request, done));
  }

  async attach(engineAddress: string): Promise<void> {
    const request = new PluginAttach().setAddress(engineAddress);
    await call<Empty>((done) => this.raw.attach(request, done));
  }

  async version(): Promise<string> {
    const info = await call<PluginInfo>((done) => this.raw.getPluginInfo(new Empty(), done));
    return info.getVersion();
  }

  async schema(): Promise<string> {
    const request = new pb.GetSchemaRequest();
    const reply = await call<pb.GetSchemaResponse>((done) => this.raw.getSchema(request, done));
    return reply.getSchema();
  }

  async checkConfig(args: { olds?: PropertyMap; news: PropertyMap }): Promise<CheckResponse> {
    const request = new pb.CheckRequest();
    request.setUrn("urn:pulumi:dev::project::pulumi:providers:compute::default");
    request.setOlds(toStruct(args.olds)).setNews(toStruct(args.news));
    return readChecked(await call<pb.CheckResponse>((done) => this.raw.checkConfig(request, done)));
  }

  async diffConfig(args: { olds: PropertyMap; news: PropertyMap }): Promise<pb.DiffResponse> {
    const request = new pb.DiffRequest().setOldInputs(toStruct(args.olds));
    request.setNews(toStruct(args.news));
    return call((done) => this.raw.diffConfig(request, done));
  }

  /** `id` is the id of the provider resource. */
  async configure(args: PropertyMap, id = "provider-id"): Promise<pb.ConfigureResponse> {
    const request = new pb.ConfigureRequest().setArgs(toStruct(args)).setId(id);
    return call((done) => this.raw.configure(request, done));
  }

  async check(
    args: Target & {
      olds?: PropertyMap;
      news: PropertyMap;
      randomSeed?: Uint8Array;
      autonaming?: { proposedName: string; mode: pb.CheckRequest.AutonamingOptions.Mode };
    },
  ): Promise<CheckResponse> {
    const request = withTarget(new pb.CheckRequest(), args);
    request.setOlds(toStruct(args.olds)).setNews(toStruct(args.news));
    request.setRandomseed(args.randomSeed ?? new Uint8Array(32));
    if (args.autonaming) {
      const options = new pb.CheckRequest.AutonamingOptions();
      options.setProposedName(args.autonaming.proposedName).setMode(args.autonaming.mode);
      request.setAutonaming(options);
    }
    return readChecked(await call<pb.CheckResponse>((done) => this.raw.check(request, done)));
  }

  async diff(args: ExistingInstance & { news: PropertyMap }): Promise<pb.DiffResponse.AsObject> {
    const request = withTarget(new pb.DiffRequest(), args).setOlds(toStruct(args.oldOutputs));
    request.setId(args.id).setOldInputs(toStruct(args.oldInputs)).setNews(toStruct(args.news));
    const reply = await call<pb.DiffResponse>((done) => this.raw.diff(request, done));
    return reply.toObject();
  }

  async create(
    args: Target & { inputs: PropertyMap; timeoutSeconds?: number; preview?: boolean },
  ): Promise<StateReply<CreateResponse>> {
    const request = withTarget(new pb.CreateRequest(), args).setProperties(toStruct(args.inputs));
    request.setTimeout(args.timeoutSeconds ?? 0).setPreview(args.preview ?? false);
    const reply = await call<pb.CreateResponse>((done) => this.raw.create(request, done));
    return { id: reply.getId(), ...readSaved(reply) };
  }

  async update(
    args: ExistingInstance & { news: PropertyMap; preview?: boolean },
  ): Promise<StateReply<UpdateResponse>> {
    const request = withTarget(new pb.UpdateRequest(), args).setOlds(toStruct(args.oldOutputs));
    request.setId(args.id).setOldInputs(toStruct(args.oldInputs)).setNews(toStruct(args.news));
    request.setTimeout(args.timeoutSeconds ?? 0).setPreview(args.preview ?? false);
    const reply = await call<pb.UpdateResponse>((done) => this.raw.update(request, done));
    return readSaved(reply);
  }

  /** A Read without inputs and outputs is an import. Resolves to `undefined` if the instance is gone. */
  async read(
    args: Target & {
      id: string;
      inputs?: PropertyMap;
      outputs?: PropertyMap;
      timeoutSeconds?: number;
    },
  ): Promise<StateReply<ReadResponse> | undefined> {
    const request = withTarget(new pb.ReadRequest(), args).setId(args.id);
    if (args.inputs) request.setInputs(toStruct(args.inputs));
    if (args.outputs) request.setProperties(toStruct(args.outputs));
    request.setTimeout(args.timeoutSeconds ?? 0);
    const reply = await call<pb.ReadResponse>((done) => this.raw.read(request, done));
    if (reply.getId() === "" && !reply.hasProperties()) return undefined;
    return {
      id: reply.getId(),
      inputs: decodeProperties(reply.getInputs()),
      ...readSaved(reply),
    };
  }

  async delete(args: ExistingInstance): Promise<void> {
    const request = withTarget(new pb.DeleteRequest(), args).setId(args.id);
    request.setOldInputs(toStruct(args.oldInputs)).setProperties(toStruct(args.oldOutputs));
    request.setTimeout(args.timeoutSeconds ?? 0);
    await call<Empty>((done) => this.raw.delete(request, done));
  }

  async invoke(token: string, args: PropertyMap): Promise<{ outputs: PropertyMap }> {
    const request = new pb.InvokeRequest().setTok(token).setArgs(toStruct(args));
    const reply = await call<pb.InvokeResponse>((done) => this.raw.invoke(request, done));
    return { outputs: decodeProperties(reply.getReturn()) };
  }

  /** `pageSize` is of callers that want pages, which the provider does not give. */
  async list(
    token: string,
    query: PropertyMap = {},
    { limit = 0, pageSize = 0 } = {},
  ): Promise<ListResponse> {
    const request = new pb.ListRequest().setToken(token).setQuery(toStruct(query));
    request.setLimit(limit).setPageSize(pageSize);
    const listed: ListedInstance[] = [];
    try {
      for await (const reply of this.raw.list(request) as AsyncIterable<pb.ListResponse>) {
        if (reply.hasComputed()) return Unknown.value;
        const result = reply.getResult();
        if (result) listed.push(result.toObject());
      }
    } catch (error) {
      throw failed(error as ServiceError);
    }
    return listed;
  }

  async cancel(): Promise<void> {
    await call<Empty>((done) => this.raw.cancel(new Empty(), done));
  }
}

function readSaved(reply: pb.CreateResponse | pb.UpdateResponse | pb.ReadResponse) {
  return {
    outputs: decodeProperties(reply.getProperties()),
    refreshBeforeUpdate: reply.getRefreshBeforeUpdate(),
  };
}

function readChecked(reply: pb.CheckResponse): CheckResponse {
  const failures = reply
    .getFailuresList()
    .map((failure) => failure.getProperty() + failure.getReason());
  return { inputs: decodeProperties(reply.getInputs()), failures };
}

function toStruct(map: PropertyMap = {}): Struct {
  return encodeProperties(map, "preview");
}

function withTarget<
  Request extends { setUrn(urn: string): unknown; setType(type: string): unknown },
>(request: Request, { urn = instanceUrn, type = instanceToken }: Target): Request {
  request.setUrn(urn);
  request.setType(type);
  return request;
}

async function call<Reply>(start: (done: Callback<Reply>) => unknown): Promise<Reply> {
  return new Promise((resolve, reject) => {
    start((error, reply) => {
      if (error) reject(failed(error));
      else resolve(reply);
    });
  });
}
