/**
 * The calls of `pulumirpc.ResourceProvider`: each entry decodes the engine's message, asks the provider,
 * and encodes the answer.
 */
import type { handleServerStreamingCall, handleUnaryCall } from "@grpc/grpc-js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { PluginInfo, type PluginAttach } from "@pulumi/pulumi/proto/plugin_pb";
import type { IResourceProviderServer } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { InstanceUnfinished } from "../errors";
import { functionTokens, instanceToken, unknownTexts } from "../pulumiNames";
import type { Redactor } from "../redaction";
import type * as requests from "../requests";
import { describeError } from "./errors";
import { decodeProperties, encodeProperties, InvalidMessage } from "./properties";
import {
  diffSettings,
  newerSdkWarning,
  omitEngineEntries,
  withEngineEntries,
} from "./providerInputs";
import type { EngineLog } from "./engineLog";

/** `UntypedServiceImplementation` without its index signature, which would let any name pass. */
type Service = Partial<{
  [
    Name in keyof IResourceProviderServer as string extends Name ? never : Name
  ]: IResourceProviderServer[Name];
}>;

/** What the calls need besides the provider. */
export interface ServiceDependencies {
  schema: () => Promise<string>;
  log: EngineLog;
  redactor: Redactor;
  /** Semantic version of the plugin. */
  version: string;
}

/** The server that runs the calls, as the calls see it. */
export interface CallRunner {
  /** The handler of a unary call that does without the provider. */
  unary<Request, Reply>(
    handle: (request: Request) => Reply | Promise<Reply>,
  ): handleUnaryCall<Request, Reply>;
  /** The handler of a unary call to the provider. */
  withProvider<Request, Reply>(
    handle: (provider: requests.Provider, request: Request) => Promise<Reply>,
  ): handleUnaryCall<Request, Reply>;
  /** The handler of a call to the provider that streams its answer, one message for each item. */
  streaming<Request, Reply>(
    handle: (provider: requests.Provider, request: Request) => Promise<Reply[]>,
  ): handleServerStreamingCall<Request, Reply>;
  /** How many calls are not answered yet. */
  readonly runningCalls: number;
  /** Has the provider end its waits; see `Provider.cancel`. Never throws. */
  cancel(isOrderly: boolean): void;
  /** A new engine has come; in attach mode the process has outlived the last one. */
  attachEngine(engineAddress: string): void;
}

/** Every call that the provider answers; grpc-js answers UNIMPLEMENTED to the others. */
export function providerService(server: CallRunner, dependencies: ServiceDependencies): Service {
  const { schema, log, redactor, version } = dependencies;

  const toCheckReply = ({ inputs, failures }: requests.CheckResponse): pb.CheckResponse =>
    new pb.CheckResponse()
      // Unknown inputs are allowed in updates too.
      .setInputs(encodeProperties(inputs, "preview"))
      .setFailuresList(failures.map(toCheckFailure));
  const toCheckFailure = ({ property, reason }: requests.CheckFailure): pb.CheckFailure =>
    new pb.CheckFailure().setProperty(redactor.redact(property)).setReason(redactor.redact(reason));

  return {
    handshake: server.unary((request: pb.ProviderHandshakeRequest) => {
      server.attachEngine(request.getEngineAddress());
      return new pb.ProviderHandshakeResponse()
        .setAcceptSecrets(true)
        .setAcceptResources(true)
        .setAcceptOutputs(true)
        .setSupportsAutonamingConfiguration(true);
    }),
    attach: server.unary((request: PluginAttach) => {
      server.attachEngine(request.getAddress());
      return new Empty();
    }),
    getPluginInfo: server.unary(() => new PluginInfo().setVersion(version)),
    getSchema: server.unary(async () => new pb.GetSchemaResponse().setSchema(await schema())),
    // Answered at once and whatever happens: the engine takes a plugin that does not answer for crashed.
    // Never exits: Cancel comes at every normal shutdown too, with calls still running.
    cancel: (_call, callback) => {
      callback(null, new Empty());
      server.cancel(server.runningCalls === 0);
    },

    checkConfig: server.withProvider(async (provider, request: pb.CheckRequest) => {
      const sent = decodeProperties(request.getNews());
      const { inputs, failures } = await provider.checkConfig({ news: omitEngineEntries(sent) });
      const warning = newerSdkWarning(sent, { plugin: version, folder: __dirname });
      if (warning !== undefined) log.warning(warning, request.getUrn());
      return toCheckReply({ inputs: withEngineEntries(inputs, sent), failures });
    }),
    diffConfig: server.unary((request: pb.DiffRequest) => {
      const olds = decodeProperties(request.getOldInputs());
      return toDiffReply(diffSettings(olds, decodeProperties(request.getNews())));
    }),
    configure: server.withProvider(async (provider, request: pb.ConfigureRequest) => {
      const id = request.getId();
      if (!id) throw new InvalidMessage("Configure gives no id of the provider resource");
      await provider.configure({
        urn: request.getUrn() || undefined,
        scope: unknownTexts.has(id) ? { kind: "unknown" } : { kind: "known", id },
        args: omitEngineEntries(decodeProperties(request.getArgs())),
      });
      // What Handshake said, once more.
      return new pb.ConfigureResponse()
        .setAcceptsecrets(true)
        .setAcceptresources(true)
        .setAcceptoutputs(true)
        .setSupportspreview(true)
        .setSupportsAutonamingConfiguration(true);
    }),

    check: server.withProvider(async (provider, request: pb.CheckRequest) => {
      requireInstance(request.getType());
      const autonaming = request.getAutonaming();
      const answer = await provider.check({
        urn: request.getUrn(),
        olds: decodeProperties(request.getOlds()),
        news: decodeProperties(request.getNews()),
        randomSeed: request.getRandomseed_asU8(),
        autonaming: autonaming && {
          proposedName: autonaming.getProposedName(),
          mode: readAutonamingMode(autonaming.getMode()),
        },
      });
      return toCheckReply(answer);
    }),
    diff: server.withProvider(async (provider, request: pb.DiffRequest) =>
      toDiffReply(await provider.diff(readDiffRequest(request))),
    ),
    create: server.withProvider(async (provider, request: pb.CreateRequest) => {
      requireInstance(request.getType());
      const inputs = decodeProperties(request.getProperties());
      const preview = request.getPreview();
      const { id, outputs } = await provider.create({
        ...{ urn: request.getUrn(), inputs, preview },
        timeoutSeconds: readTimeoutSeconds(request),
      });
      if (id === "" && !preview) throw new Error("Create made an instance but gave no id");
      try {
        const reply = new pb.CreateResponse()
          .setId(id)
          .setProperties(encodeProperties(outputs, preview ? "preview" : "final"));
        // grpc-js does this once more, but a failure there could not be reported.
        reply.serializeBinary();
        return reply;
      } catch (error) {
        if (preview) throw error;
        // G1: the instance exists and costs money. With a plain error the engine would forget it; with
        // this one the engine keeps the id, and what of the state can be sent.
        throw new InstanceUnfinished(id, { inputs, outputs }, [
          `instance ${id} was made, but part of its state could not be recorded ` +
            `(${describeError(error).message}): the next \`pulumi up\` reads it again`,
        ]);
      }
    }),
    update: server.withProvider(async (provider, request: pb.UpdateRequest) => {
      const preview = request.getPreview();
      const outputs = await provider.update({
        ...readDiffRequest(request),
        timeoutSeconds: readTimeoutSeconds(request),
        preview,
      });
      return new pb.UpdateResponse().setProperties(
        encodeProperties(outputs, preview ? "preview" : "final"),
      );
    }),
    read: server.withProvider(async (provider, request: pb.ReadRequest) => {
      requireInstance(request.getType());
      const answer = await provider.read({
        urn: request.getUrn(),
        id: request.getId(),
        // Absent means an import, empty means a `.get()`.
        inputs: request.hasInputs() ? decodeProperties(request.getInputs()) : undefined,
        outputs: request.hasProperties() ? decodeProperties(request.getProperties()) : undefined,
        timeoutSeconds: readTimeoutSeconds(request),
      });
      // A reply without id and properties says that the instance is gone.
      if (!answer) return new pb.ReadResponse();
      return new pb.ReadResponse()
        .setId(answer.id)
        .setInputs(encodeProperties(answer.inputs, "final"))
        .setProperties(encodeProperties(answer.outputs, "final"));
    }),
    delete: server.withProvider(async (provider, request: pb.DeleteRequest) => {
      requireInstance(request.getType());
      await provider.delete({
        urn: request.getUrn(),
        id: request.getId(),
        oldInputs: decodeProperties(request.getOldInputs()),
        oldOutputs: decodeProperties(request.getProperties()),
        timeoutSeconds: readTimeoutSeconds(request),
      });
      return new Empty();
    }),

    invoke: server.withProvider(async (provider, request: pb.InvokeRequest) => {
      const token = functionTokens.find((known) => known === request.getTok());
      if (!token) throw unknownTokenError("function", request.getTok(), functionTokens);
      const args = decodeProperties(request.getArgs());
      const { outputs, failures } = await provider.invoke({ token, args });
      return new pb.InvokeResponse()
        .setReturn(encodeProperties(outputs, "final"))
        .setFailuresList(failures.map(toCheckFailure));
    }),
    list: server.streaming(async (provider, request: pb.ListRequest) => {
      requireInstance(request.getToken());
      const query = decodeProperties(request.getQuery());
      const listed = await provider.list({ query, limit: request.getLimit() });
      return listed.map(({ id, name }) =>
        new pb.ListResponse().setResult(new pb.ListResponse.Result().setId(id).setName(name)),
      );
    }),
  };
}

/** Of a Diff, and the part of an Update that is the same. */
function readDiffRequest(request: pb.DiffRequest | pb.UpdateRequest): requests.DiffRequest {
  requireInstance(request.getType());
  return {
    urn: request.getUrn(),
    id: request.getId(),
    oldInputs: decodeProperties(request.getOldInputs()),
    oldOutputs: decodeProperties(request.getOlds()),
    // The engine has applied ignoreChanges already.
    news: decodeProperties(request.getNews()),
  };
}

const { ADD, ADD_REPLACE, DELETE, DELETE_REPLACE, UPDATE, UPDATE_REPLACE } = pb.PropertyDiff.Kind;
const diffKinds: Readonly<Record<requests.DiffKind, pb.PropertyDiff.Kind>> = {
  add: ADD,
  "add-replace": ADD_REPLACE,
  delete: DELETE,
  "delete-replace": DELETE_REPLACE,
  update: UPDATE,
  "update-replace": UPDATE_REPLACE,
};

function toDiffReply({ detailed, deleteBeforeReplace }: requests.DiffResponse): pb.DiffResponse {
  const changes = Object.entries(detailed);
  const replacing = changes.filter(([, kind]) => kind.endsWith("-replace"));
  const { DIFF_NONE, DIFF_SOME } = pb.DiffResponse.DiffChanges;
  const reply = new pb.DiffResponse()
    .setChanges(changes.length === 0 ? DIFF_NONE : DIFF_SOME)
    .setDiffsList(changes.map(([name]) => name))
    .setReplacesList(replacing.map(([name]) => name))
    .setDeletebeforereplace(deleteBeforeReplace)
    // Without a detailed diff, the engine shows every output as changed.
    .setHasdetaileddiff(true);
  for (const [name, kind] of changes) {
    const diff = new pb.PropertyDiff().setKind(diffKinds[kind]).setInputdiff(true);
    reply.getDetaileddiffMap().set(name, diff);
  }
  return reply;
}

function readAutonamingMode(mode: number): requests.AutonamingMode {
  const known = (["propose", "enforce", "disable"] as const)[mode];
  if (known === undefined) throw new InvalidMessage(`autonaming mode ${mode} is not known`);
  return known;
}

/** 0 where the program sets none, and for a number that is no time. */
function readTimeoutSeconds(request: { getTimeout(): number }): number {
  const seconds = request.getTimeout();
  return seconds > 0 ? seconds : 0;
}

function requireInstance(type: string): void {
  if (type !== instanceToken) throw unknownTokenError("resource", type, [instanceToken]);
}

function unknownTokenError(what: string, token: string, known: readonly string[]): InvalidMessage {
  const quoted = JSON.stringify(token);
  return new InvalidMessage(`this provider has no ${what} ${quoted}; it has ${known.join(", ")}`);
}
