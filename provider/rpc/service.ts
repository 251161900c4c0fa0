import type { handleUnaryCall } from "@grpc/grpc-js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { PluginInfo, type PluginAttach } from "@pulumi/pulumi/proto/plugin_pb";
import type { IResourceProviderServer } from "@pulumi/pulumi/proto/provider_grpc_pb";
import {
  GetSchemaResponse,
  type CreateRequest,
  type CreateResponse,
  type DiffRequest,
  type DiffResponse,
  type ProviderHandshakeRequest,
} from "@pulumi/pulumi/proto/provider_pb";
import { InstanceUnfinished } from "../errors";
import type { Provider } from "../requests";
import type { Redactor } from "../redaction";
import type { Calls } from "./calls";
import { decodeProperties } from "./decode";
import type { EngineLog } from "./engineLog";
import { describe } from "./errors";
import { changedSettings, forProvider, withInternals } from "./providerInputs";
import { sdkAdvice } from "./sdkVersion";
import * as replies from "./replies";
import * as requests from "./requests";

export interface ServiceDependencies {
  provider: Provider;
  /** Asked for more often than anything else of the provider, which is not loaded for it. */
  schema: () => Promise<string>;
  log: EngineLog;
  redactor: Redactor;
  /** Semantic version of the plugin. */
  version: string;
  capabilities: requests.Capabilities;
}

/** `UntypedServiceImplementation` without its index signature, which would let any name pass. */
type Service = Partial<{
  [
    Name in keyof IResourceProviderServer as string extends Name ? never : Name
  ]: IResourceProviderServer[Name];
}>;

/** Every call of `pulumirpc.ResourceProvider` we have; grpc-js answers UNIMPLEMENTED to the rest. */
export function service(calls: Calls, dependencies: ServiceDependencies): Service {
  const { provider, schema, log, redactor, version, capabilities } = dependencies;
  const redact = (text: string) => redactor.redact(text);

  /** A new engine; in attach mode the process has outlived the last one. */
  const greet = (engineAddress: string): void => {
    log.attach(engineAddress);
    provider.renew();
  };

  return {
    handshake: calls.unary((request: ProviderHandshakeRequest) => {
      greet(request.getEngineAddress());
      return replies.handshakeReply();
    }),
    attach: calls.unary((request: PluginAttach) => {
      greet(request.getAddress());
      return new Empty();
    }),
    getPluginInfo: calls.unary(() => new PluginInfo().setVersion(version)),
    getSchema: calls.unary(async () => new GetSchemaResponse().setSchema(await schema())),
    cancel: cancel(calls, dependencies),

    checkConfig: calls.unary(async (request) => {
      const answer = await provider.checkConfig(requests.checkConfigRequest(request));
      const sent = decodeProperties(request.getNews());
      const inputs = withInternals(answer.inputs, sent);
      const advice = sdkAdvice(sent, { plugin: version, folder: __dirname });
      if (advice !== undefined) log.warning(advice, request.getUrn());
      return replies.checkReply({ ...answer, inputs }, redact);
    }),
    diffConfig: calls.unary(diffConfig),
    configure: calls.unary(async (request) => {
      await provider.configure(requests.configureRequest(request));
      return replies.configureReply();
    }),

    check: calls.unary(async (request) =>
      replies.checkReply(
        await provider.check(requests.checkRequest(request, capabilities)),
        redact,
      ),
    ),
    diff: calls.unary(async (request) =>
      replies.diffReply(await provider.diff(requests.diffRequest(request, capabilities))),
    ),
    create: calls.unary((request) => create(provider, request, capabilities)),
    update: calls.unary(async (request) => {
      const outputs = await provider.update(requests.updateRequest(request, capabilities));
      return replies.updateReply(outputs, request.getPreview());
    }),
    read: calls.unary(async (request) =>
      replies.readReply(await provider.read(requests.readRequest(request, capabilities))),
    ),
    delete: calls.unary(async (request) => {
      await provider.delete(requests.deleteRequest(request, capabilities));
      return new Empty();
    }),

    invoke: calls.unary(async (request) =>
      replies.invokeReply(
        await provider.invoke(requests.invokeRequest(request, capabilities)),
        redact,
      ),
    ),
    list: calls.streamed(async (request) => {
      const listed = await provider.list(requests.listRequest(request, capabilities));
      return listed.map(replies.listReply);
    }),
  };
}

/**
 * Answered at once and whatever happens, as the engine takes a plugin without this answer for
 * crashed. Never exits: Cancel comes at every normal shutdown too, with calls still running.
 */
function cancel(
  calls: Calls,
  { provider, log }: ServiceDependencies,
): handleUnaryCall<Empty, Empty> {
  return (_call, callback) => {
    callback(null, new Empty());
    try {
      provider.cancel(calls.running === 0);
    } catch (error) {
      log.debug(describe(error).stack);
    }
  };
}

/** Settings never replace an instance (G5): the engine would make every one of them anew. */
function diffConfig(request: DiffRequest): DiffResponse {
  const olds = decodeProperties(request.getOldInputs());
  const news = decodeProperties(request.getNews());
  const changes = changedSettings(forProvider(olds), forProvider(news));
  return replies.diffReply({
    detailed: Object.fromEntries(changes.map(({ name, kind }) => [name, kind])),
    deleteBeforeReplace: false,
  });
}

async function create(
  provider: Provider,
  request: CreateRequest,
  capabilities: requests.Capabilities,
): Promise<CreateResponse> {
  const decoded = requests.createRequest(request, capabilities);
  const answer = await provider.create(decoded);
  const { preview } = decoded;
  if (answer.id === "" && !preview) throw new Error("Create made an instance but gave no id");
  try {
    const reply = replies.createReply(answer, preview);
    // grpc-js does this once more, but then a failure can't be helped.
    reply.serializeBinary();
    return reply;
  } catch (error) {
    if (preview) throw error;
    // G1: the instance exists and costs money. Were the engine told of a plain error, it would
    // forget it; this way it keeps the id, and what of the state can be sent.
    throw new InstanceUnfinished(answer.id, { inputs: decoded.inputs, outputs: answer.outputs }, [
      `instance ${answer.id} was made, but part of its state could not be recorded ` +
        `(${describe(error).message}): the next \`pulumi up\` reads it again`,
    ]);
  }
}
