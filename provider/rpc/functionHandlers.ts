/** The handlers of the calls that change nothing: the functions, and the list of the instances. */
import type { IResourceProviderServer } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { Unknown } from "../propertyValue";
import { functionTokens, instanceToken } from "../pulumiNames";
import type { Provider } from "../calls";
import { requireToken, toCheckFailures, type Clean } from "./messages";
import { decodeProperties, encodeProperties, InvalidMessage } from "./properties";
import type { ProviderServer } from "./server";

/** Returns the handlers of Invoke and List. */
export function functionHandlers(server: ProviderServer, clean: Clean) {
  return {
    invoke: server.withProvider(async (provider, request: pb.InvokeRequest) => {
      const token = requireToken("function", request.getTok(), functionTokens);
      const args = decodeProperties(request.getArgs());
      const { outputs, failures } = await provider.invoke({ token, args });
      return new pb.InvokeResponse()
        .setReturn(encodeProperties(outputs, "final"))
        .setFailuresList(toCheckFailures(failures, clean));
    }),
    list: server.streaming(list),
  } satisfies Partial<IResourceProviderServer>;
}

async function list(provider: Provider, request: pb.ListRequest): Promise<pb.ListResponse[]> {
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
}
