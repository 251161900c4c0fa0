/**
 * The server of the plugin, and the handlers of the calls that are not about an Instance of the program or of the state. A handler
 * decodes the request, calls the provider, and encodes the response.
 */
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { PluginInfo, type PluginAttach } from "@pulumi/pulumi/proto/plugin_pb";
import type { IResourceProviderServer } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { Unknown } from "../pulumi/propertyValue";
import { functionTokens, instanceToken, unknownTexts } from "../pulumi/names";
import type { Provider } from "../pulumi/calls";
import { instanceHandlers } from "./instanceHandlers";
import { InvalidMessage, requireToken, toCheckReply, toDiffReply } from "./messages";
import { decodeProperties, encodeProperties } from "./properties";
import { diffSettings, splitInputs } from "./providerInputs";
import { ProviderServer, type ServerDependencies } from "./server";

/** Makes the server of the plugin, which does not listen yet. To a call without a handler, grpc-js answers UNIMPLEMENTED. */
export function createServer(dependencies: ServerDependencies): ProviderServer {
  const server = new ProviderServer(dependencies);
  const { log } = dependencies;
  const clean = (text: string) => log.clean(text);
  const handlers = {
    ...pluginHandlers(server, dependencies),
    ...settingsHandlers(server, dependencies),
    ...instanceHandlers(server, clean),
    ...functionHandlers(server),
  } satisfies Partial<IResourceProviderServer>;
  server.addCalls(handlers);
  return server;
}

/** The handlers of the calls that need no provider. */
function pluginHandlers(server: ProviderServer, { schema, version }: ServerDependencies) {
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
    // The engine regards a plugin that does not reply as crashed. Calls may still be running, so the process does not exit.
    cancel: (_call, callback) => {
      callback(null, new Empty());
      server.cancelRun();
    },
  } satisfies Partial<IResourceProviderServer>;
}

/** The handlers of the calls about the settings. */
function settingsHandlers(server: ProviderServer, { log }: ServerDependencies) {
  return {
    checkConfig: server.beginningRun(async (provider, request: pb.CheckRequest) => {
      const { settings, own } = splitInputs(decodeProperties(request.getNews()));
      const urn = request.getUrn();
      const { inputs, failures } = await provider.checkConfig({ urn, news: settings });
      return toCheckReply({ ...inputs, ...own }, failures, (text) => log.clean(text));
    }),
    diffConfig: server.unary((request: pb.DiffRequest) => {
      const olds = decodeProperties(request.getOldInputs());
      return toDiffReply(diffSettings(olds, decodeProperties(request.getNews())));
    }),
    configure: server.beginningRun(configure),
  } satisfies Partial<IResourceProviderServer>;
}

async function configure(
  provider: Provider,
  request: pb.ConfigureRequest,
): Promise<pb.ConfigureResponse> {
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
}

/** The handlers of the calls that change nothing: the functions, and the list of the instances. */
function functionHandlers(server: ProviderServer) {
  return {
    invoke: server.withProvider(async (provider, request: pb.InvokeRequest) => {
      const token = requireToken("function", request.getTok(), functionTokens);
      const args = decodeProperties(request.getArgs());
      const { outputs } = await provider.invoke({ token, args });
      return new pb.InvokeResponse().setReturn(encodeProperties(outputs, "final"));
    }),
    list: server.streaming(list),
  } satisfies Partial<IResourceProviderServer>;
}

async function list(provider: Provider, request: pb.ListRequest): Promise<pb.ListResponse[]> {
  requireToken("resource", request.getToken(), [instanceToken]);
  const query = decodeProperties(request.getQuery());
  const instances = await provider.list({ query, limit: request.getLimit() });
  if (instances instanceof Unknown)
    return [new pb.ListResponse().setComputed(new pb.ListResponse.Computed())];
  return instances.map(({ id, name }) =>
    new pb.ListResponse().setResult(new pb.ListResponse.Result().setId(id).setName(name)),
  );
}
