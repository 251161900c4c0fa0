import { Server, ServerCredentials } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { Calls } from "./calls";
import { service, type ServiceDependencies } from "./service";

export interface ProviderServer {
  /** Binds to a port of the system's choice, for this machine only; resolves to the port. */
  listen(): Promise<number>;
  /** How many calls are not answered yet. */
  readonly running: number;
  /** Takes no more calls; resolves once those running are answered. */
  drain(): Promise<void>;
  /** Breaks off whatever is still open. */
  stop(): void;
}

/** `pulumirpc.ResourceProvider` in front of a `Provider`. */
export function createServer(dependencies: ServiceDependencies): ProviderServer {
  const { log, redactor } = dependencies;
  const debug = (text: string) => log.debug(text);
  const calls = new Calls(log, { redactor, debug });
  // The engine sends up to 400 MB and takes as much; grpc-js alone would refuse more than 4 MB.
  const server = new Server({
    "grpc.max_receive_message_length": 400 * 1024 * 1024,
    "grpc.max_send_message_length": -1,
  });
  server.addService(ResourceProviderService, service(calls, dependencies));
  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
          if (error) reject(error);
          else resolve(port);
        });
      }),
    get running() {
      return calls.running;
    },
    drain: async () => {
      // With its connection a call is gone for grpc-js; what it does for the ledger goes on (G1).
      const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      await Promise.all([closed, calls.ended()]);
    },
    stop: () => {
      server.forceShutdown();
      log.close();
    },
  };
}
