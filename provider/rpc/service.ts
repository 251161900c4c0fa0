/**
 * The handlers of the calls of `pulumirpc.ResourceProvider`: each decodes the engine's message, calls the provider, and
 * encodes the response.
 */
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { PluginInfo, type PluginAttach } from "@pulumi/pulumi/proto/plugin_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { InstanceUnfinished } from "../errors";
import { functionTokens, instanceToken, unknownTexts } from "../pulumiNames";
import type * as requests from "../requests";
import { describeError } from "./errors";
import { decodeProperties, encodeProperties, InvalidMessage } from "./properties";
import {
  diffSettings,
  newerSdkWarning,
  omitEngineEntries,
  withEngineEntries,
} from "./providerInputs";
import { ProviderServer, type ProviderCalls, type ServerDependencies } from "./server";

/** Makes the server of the plugin, which does not listen yet. */
export function createServer(dependencies: ServerDependencies): ProviderServer {
  const server = new ProviderServer(dependencies);
  server.addCalls(providerService(server, dependencies));
  return server;
}

/** grpc-js answers UNIMPLEMENTED to all other calls. */
function providerService(server: ProviderServer, dependencies: ServerDependencies): ProviderCalls {
  const { schema, log, redactor, version } = dependencies;

  const toCheckReply = ({ inputs, failures }: requests.CheckResponse): pb.CheckResponse =>
    new pb.CheckResponse()
      // The engine accepts unknown inputs from Check outside a preview, too.
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
    // The engine regards a plugin that does not reply as crashed. It also sends Cancel while calls are running, so the
    // process does not exit.
    cancel: (_call, callback) => {
      callback(null, new Empty());
      server.cancel(server.runningCalls === 0);
    },

    checkConfig: server.withProvider(async (provider, request: pb.CheckRequest) => {
      const sent = decodeProperties(request.getNews());
      const { inputs, failures } = await provider.checkConfig({ news: omitEngineEntries(sent) });
      const warning = newerSdkWarning(sent, { pluginVersion: version, folder: __dirname });
      if (warning !== undefined) log.warning(warning, request.getUrn());
      return toCheckReply({ inputs: withEngineEntries(inputs, sent), failures });
    }),
    diffConfig: server.unary((request: pb.DiffRequest) => {
      const olds = decodeProperties(request.getOldInputs());
      return toDiffReply(diffSettings(olds, decodeProperties(request.getNews())));
    }),
    configure: server.withProvider(async (provider, request: pb.ConfigureRequest) => {
      const id = request.getId();
      if (!id) throw new InvalidMessage("the Configure request has no id of the provider resource");
      await provider.configure({
        urn: request.getUrn() || undefined,
        scope: unknownTexts.has(id) ? { kind: "unknown" } : { kind: "known", id },
        args: omitEngineEntries(decodeProperties(request.getArgs())),
      });
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
      const checked = await provider.check({
        urn: request.getUrn(),
        olds: decodeProperties(request.getOlds()),
        news: decodeProperties(request.getNews()),
        randomSeed: request.getRandomseed_asU8(),
        autonaming: autonaming && {
          proposedName: autonaming.getProposedName(),
          mode: readAutonamingMode(autonaming.getMode()),
        },
      });
      return toCheckReply(checked);
    }),
    diff: server.withProvider(async (provider, request: pb.DiffRequest) =>
      toDiffReply(await provider.diff(readDiffRequest(request))),
    ),
    create: server.withProvider(async (provider, request: pb.CreateRequest) => {
      requireInstance(request.getType());
      const inputs = decodeProperties(request.getProperties());
      const preview = request.getPreview();
      const { id, outputs } = await provider.create({
        urn: request.getUrn(),
        inputs,
        preview,
        timeoutSeconds: readTimeoutSeconds(request),
      });
      if (id === "" && !preview) throw new Error("Create made an instance but returned no id");
      try {
        const reply = new pb.CreateResponse()
          .setId(id)
          .setProperties(encodeProperties(outputs, preview ? "preview" : "final"));
        // grpc-js serializes the reply again, but a failure there could not be reported.
        reply.serializeBinary();
        return reply;
      } catch (error) {
        if (preview) throw error;
        // With a plain error, the engine would forget the instance, which costs money (G1).
        throw new InstanceUnfinished(id, { inputs, outputs }, [
          `instance ${id} was created, but part of its state could not be recorded ` +
            `(${describeError(error).message}): the next \`pulumi up\` reads the instance again`,
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
      const found = await provider.read({
        urn: request.getUrn(),
        id: request.getId(),
        inputs: request.hasInputs() ? decodeProperties(request.getInputs()) : undefined,
        outputs: request.hasProperties() ? decodeProperties(request.getProperties()) : undefined,
        timeoutSeconds: readTimeoutSeconds(request),
      });
      // A reply without id and properties means that the instance is gone.
      if (!found) return new pb.ReadResponse();
      return new pb.ReadResponse()
        .setId(found.id)
        .setInputs(encodeProperties(found.inputs, "final"))
        .setProperties(encodeProperties(found.outputs, "final"));
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
      const { instances, continuationToken } = await provider.list({
        query,
        limit: request.getLimit(),
        pageSize: request.getPageSize(),
        continuationToken: request.getContinuationToken(),
      });
      const replies = instances.map(({ id, name }) =>
        new pb.ListResponse().setResult(new pb.ListResponse.Result().setId(id).setName(name)),
      );
      if (continuationToken === undefined) return replies;
      const next = new pb.ListResponse.Continuation().setContinuationToken(continuationToken);
      return [...replies, new pb.ListResponse().setContinuation(next)];
    }),
  };
}

function readDiffRequest(request: pb.DiffRequest | pb.UpdateRequest): requests.DiffRequest {
  requireInstance(request.getType());
  return {
    urn: request.getUrn(),
    id: request.getId(),
    oldInputs: decodeProperties(request.getOldInputs()),
    oldOutputs: decodeProperties(request.getOlds()),
    // The engine has already applied the option ignoreChanges.
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

function toDiffReply(response: requests.DiffResponse): pb.DiffResponse {
  const { detailed, drift = [], deleteBeforeReplace } = response;
  const changes = [
    ...Object.entries(detailed),
    ...drift.map((name): [string, requests.DiffKind] => [name, "update"]),
  ];
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
    const diff = new pb.PropertyDiff().setKind(diffKinds[kind]).setInputdiff(name in detailed);
    reply.getDetaileddiffMap().set(name, diff);
  }
  return reply;
}

function readAutonamingMode(mode: number): requests.AutonamingMode {
  const known = (["propose", "enforce", "disable"] as const)[mode];
  if (known === undefined) throw new InvalidMessage(`autonaming mode ${mode} is not known`);
  return known;
}

/** Returns 0 if the program sets no time-out, or one that is not a positive number. */
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
