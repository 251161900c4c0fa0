/**
 * `pulumirpc.ResourceProvider` as it is served: the calls that we have, each request scanned before
 * google-protobuf reads it. grpc-js would answer a request that can't be read with INTERNAL and no
 * reason, so that it gets through to `Calls`, as the error it is.
 */
import type { MethodDefinition, ServiceDefinition } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { InvalidMessage } from "./decode";
import { scan } from "./scan";
import { shapeOf, type MessageType, type Shape } from "./shape";

type Method = MethodDefinition<unknown, unknown> & { requestType: MessageType<unknown> };

/** Those not named are not there: UNIMPLEMENTED, whatever they are sent. */
export function methods(names: readonly string[]): ServiceDefinition {
  const all = ResourceProviderService as unknown as Readonly<Record<string, Method>>;
  return Object.fromEntries(
    Object.entries(all)
      .filter(([name]) => names.includes(name))
      .map(([name, method]) => [name, { ...method, requestDeserialize: careful(method) }]),
  );
}

function careful({ requestType, requestDeserialize }: Method): (bytes: Buffer) => unknown {
  let shape: Shape | undefined;
  return (bytes) => {
    try {
      scan(bytes, (shape ??= shapeOf(requestType)));
      return requestDeserialize(bytes);
    } catch (error) {
      if (error instanceof InvalidMessage) return error;
      return new InvalidMessage("the message can't be read", { cause: error });
    }
  };
}

/** The request, if it could be read. */
export function readable<Request>(request: Request): Request {
  if (request instanceof InvalidMessage) throw request;
  return request;
}
