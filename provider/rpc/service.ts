/**
 * The handlers of the calls of `pulumirpc.ResourceProvider`: each decodes the engine's message, calls the provider, and
 * encodes the response.
 */
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { PluginInfo, type PluginAttach } from "@pulumi/pulumi/proto/plugin_pb";
import type { IResourceProviderServer } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { InstanceUnfinished } from "../errors";
import { Unknown, type PropertyMap } from "../propertyValue";
import {
  diffKinds,
  functionTokens,
  instanceToken,
  replaceKinds,
  unknownTexts,
  type DiffKind,
} from "../pulumiNames";
import type { AutonamingMode, CheckFailure, DiffRequest, DiffResponse } from "../requests";
import { describeError } from "./errors";
import { decodeProperties, encodeProperties, InvalidMessage } from "./properties";
import { diffSettings, newerSdkWarning, splitInputs } from "./providerInputs";
import { ProviderServer, type ServerDependencies } from "./server";

/** Makes the server of the plugin, which does not listen yet. */
export function createServer(dependencies: ServerDependencies): ProviderServer {
  const server = new ProviderServer(dependencies);
  server.addCalls(providerCalls(server, dependencies));
  return server;
}

/** To all other calls, grpc-js answers UNIMPLEMENTED. */
function providerCalls(server: ProviderServer, { schema, log, version }: ServerDependencies) {
  const toCheckFailures = (failures: CheckFailure[]): pb.CheckFailure[] =>
    failures.map(({ property, reason }) =>
      new pb.CheckFailure().setProperty(log.clean(property)).setReason(log.clean(reason)),
    );
  const toCheckReply = (inputs: PropertyMap, failures: CheckFailure[]): pb.CheckResponse =>
    new pb.CheckResponse()
      // The engine accepts unknown inputs from Check outside a preview, too.
      .setInputs(encodeProperties(inputs, "preview"))
      .setFailuresList(toCheckFailures(failures));

  return {
    handshake: server.unary((request: pb.ProviderHandshakeRequest) => {
      server.attach(request.getEngineAddress());
      return new pb.ProviderHandshakeResponse()
        .setAcceptSecrets(true)
        .setAcceptResources(true)
        .setAcceptOutputs(true)
        .setSupportsAutonamingConfiguration(true);
    }),
    attach: server.unary((request: PluginAttach) => {
      server.attach(request.getAddress());
      return new Empty();
    }),
    getPluginInfo: server.unary(() => new PluginInfo().setVersion(version)),
    getSchema: server.unary(async () => new pb.GetSchemaResponse().setSchema(await schema())),
    // The engine regards a plugin that does not reply as crashed. It also sends Cancel while calls are running, so the
    // process does not exit.
    cancel: (_call, callback) => {
      callback(null, new Empty());
      server.cancelRun();
    },

    // The engine calls CheckConfig if the program runs, and else only Configure.
    checkConfig: server.beginningRun(async (provider, request: pb.CheckRequest) => {
      const sent = decodeProperties(request.getNews());
      const { settings, own } = splitInputs(sent);
      const { inputs, failures } = await provider.checkConfig({ news: settings });
      const warning = newerSdkWarning(sent, { pluginVersion: version, folder: __dirname });
      if (warning !== undefined) log.warning(warning, request.getUrn());
      return toCheckReply({ ...inputs, ...own }, failures);
    }),
    diffConfig: server.unary((request: pb.DiffRequest) => {
      const olds = decodeProperties(request.getOldInputs());
      return toDiffReply(diffSettings(olds, decodeProperties(request.getNews())));
    }),
    configure: server.beginningRun(async (provider, request: pb.ConfigureRequest) => {
      const id = request.getId();
      if (!id) throw new InvalidMessage("the Configure request has no id of the provider resource");
      await provider.configure({
        urn: request.getUrn() || undefined,
        scope: unknownTexts.has(id) ? undefined : id,
        args: splitInputs(decodeProperties(request.getArgs())).settings,
      });
      return new pb.ConfigureResponse()
        .setAcceptsecrets(true)
        .setAcceptresources(true)
        .setAcceptoutputs(true)
        .setSupportspreview(true)
        .setSupportsAutonamingConfiguration(true);
    }),

    check: server.withProvider(async (provider, request: pb.CheckRequest) => {
      const autonaming = request.getAutonaming();
      const { inputs, failures } = await provider.check({
        urn: readUrn(request),
        olds: decodeProperties(request.getOlds()),
        news: decodeProperties(request.getNews()),
        randomSeed: request.getRandomseed_asU8(),
        autonaming: autonaming && {
          proposedName: autonaming.getProposedName(),
          mode: readAutonamingMode(autonaming.getMode()),
        },
      });
      return toCheckReply(inputs, failures);
    }),
    diff: server.withProvider(async (provider, request: pb.DiffRequest) =>
      toDiffReply(await provider.diff(readDiffRequest(request))),
    ),
    create: server.whileEngineWaits(
      server.withProvider(async (provider, request: pb.CreateRequest) => {
        const inputs = decodeProperties(request.getProperties());
        const preview = request.getPreview();
        const { id, outputs, refreshBeforeUpdate } = await provider.create({
          urn: readUrn(request),
          inputs,
          preview,
          timeoutSeconds: readTimeoutSeconds(request),
        });
        if (id === "" && !preview) throw new Error("Create made an instance but returned no id");
        try {
          const reply = new pb.CreateResponse()
            .setId(id)
            .setProperties(encodeProperties(outputs, preview ? "preview" : "final"))
            .setRefreshBeforeUpdate(refreshBeforeUpdate);
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
    ),
    update: server.withProvider(async (provider, request: pb.UpdateRequest) => {
      const preview = request.getPreview();
      const { outputs, refreshBeforeUpdate } = await provider.update({
        ...readDiffRequest(request),
        timeoutSeconds: readTimeoutSeconds(request),
        preview,
      });
      return new pb.UpdateResponse()
        .setProperties(encodeProperties(outputs, preview ? "preview" : "final"))
        .setRefreshBeforeUpdate(refreshBeforeUpdate);
    }),
    read: server.withProvider(async (provider, request: pb.ReadRequest) => {
      const found = await provider.read({
        urn: readUrn(request),
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
        .setProperties(encodeProperties(found.outputs, "final"))
        .setRefreshBeforeUpdate(found.refreshBeforeUpdate);
    }),
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

    invoke: server.withProvider(async (provider, request: pb.InvokeRequest) => {
      const token = requireToken("function", request.getTok(), functionTokens);
      const args = decodeProperties(request.getArgs());
      const { outputs, failures } = await provider.invoke({ token, args });
      return new pb.InvokeResponse()
        .setReturn(encodeProperties(outputs, "final"))
        .setFailuresList(toCheckFailures(failures));
    }),
    list: server.streaming(async (provider, request: pb.ListRequest) => {
      requireToken("resource", request.getToken(), [instanceToken]);
      const query = decodeProperties(request.getQuery());
      if (request.getContinuationToken() !== "") {
        throw new InvalidMessage(
          "this provider lists all instances at once, and gives no continuation token",
        );
      }
      const instances = await provider.list({ query, limit: request.getLimit() });
      if (instances instanceof Unknown)
        return [new pb.ListResponse().setComputed(new pb.ListResponse.Computed())];
      return instances.map(({ id, name }) =>
        new pb.ListResponse().setResult(new pb.ListResponse.Result().setId(id).setName(name)),
      );
    }),
  } satisfies Partial<IResourceProviderServer>;
}

function readDiffRequest(request: pb.DiffRequest | pb.UpdateRequest): DiffRequest {
  return {
    urn: readUrn(request),
    id: request.getId(),
    oldInputs: decodeProperties(request.getOldInputs()),
    oldOutputs: decodeProperties(request.getOlds()),
    // The engine has already applied the option ignoreChanges.
    news: decodeProperties(request.getNews()),
  };
}

function toDiffReply(response: DiffResponse): pb.DiffResponse {
  const { detailed, drift = [], needsUpdate = false, deleteBeforeReplace } = response;
  const reply = new pb.DiffResponse()
    .setDeletebeforereplace(deleteBeforeReplace)
    // Without a detailed diff, the engine shows every output as changed.
    .setHasdetaileddiff(true);
  const add = (name: string, kind: DiffKind, isInput: boolean) => {
    const diff = new pb.PropertyDiff().setKind(diffKinds.indexOf(kind)).setInputdiff(isInput);
    reply.getDetaileddiffMap().set(name, diff);
    reply.addDiffs(name);
    if (replaceKinds.has(kind)) reply.addReplaces(name);
  };
  for (const [name, kind] of Object.entries(detailed)) add(name, kind, true);
  for (const name of drift) add(name, "update", false);
  const { DIFF_NONE, DIFF_SOME } = pb.DiffResponse.DiffChanges;
  const isChanged = needsUpdate || reply.getDiffsList().length > 0;
  return reply.setChanges(isChanged ? DIFF_SOME : DIFF_NONE);
}

function readAutonamingMode(mode: number): AutonamingMode {
  const known = (["propose", "enforce", "disable"] as const)[mode];
  if (known === undefined) throw new InvalidMessage(`autonaming mode ${mode} is not known`);
  return known;
}

/** Returns 0 if the program sets no time-out, or one that is not a positive number. */
function readTimeoutSeconds(request: { getTimeout(): number }): number {
  return Math.max(0, request.getTimeout() || 0);
}

/** @throws InvalidMessage if the call is not about an Instance */
function readUrn(request: { getUrn(): string; getType(): string }): string {
  requireToken("resource", request.getType(), [instanceToken]);
  return request.getUrn();
}

/** @throws InvalidMessage if the token is not one of the known ones */
function requireToken<T extends string>(what: string, token: string, known: readonly T[]): T {
  const found = known.find((candidate) => candidate === token);
  if (found !== undefined) return found;
  const quoted = JSON.stringify(token);
  throw new InvalidMessage(`this provider has no ${what} ${quoted}; it has ${known.join(", ")}`);
}
