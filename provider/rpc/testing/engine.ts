/** The log service of an engine, for tests. It keeps every message that it receives. */
import { Server, ServerCredentials, type handleUnaryCall } from "@grpc/grpc-js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogSeverity, type LogRequest } from "@pulumi/pulumi/proto/engine_pb";

/** A message that the engine received. */
export interface LoggedMessage {
  severity: "debug" | "info" | "warning" | "error";
  message: string;
  urn: string;
  ephemeral: boolean;
}

const severities = {
  [LogSeverity.DEBUG]: "debug",
  [LogSeverity.INFO]: "info",
  [LogSeverity.WARNING]: "warning",
  [LogSeverity.ERROR]: "error",
} as const;

/** An engine with only a log service. */
export class TestEngine {
  readonly logged: LoggedMessage[] = [];
  /** Called before a message is kept and answered. */
  beforeLog: (message: string) => Promise<void> = () => Promise.resolve();

  private constructor(
    private readonly server: Server,
    readonly address: string,
  ) {}

  static async start(): Promise<TestEngine> {
    const server = new Server();
    const log: handleUnaryCall<LogRequest, Empty> = ({ request }, callback) => {
      void engine.beforeLog(request.getMessage()).then(() => {
        engine.logged.push({
          severity: severities[request.getSeverity()],
          message: request.getMessage(),
          urn: request.getUrn(),
          ephemeral: request.getEphemeral(),
        });
        callback(null, new Empty());
      });
    };
    server.addService(EngineService, { log });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
        if (error) reject(error);
        else resolve(bound);
      });
    });
    const engine = new TestEngine(server, `127.0.0.1:${port}`);
    return engine;
  }

  stop(): void {
    this.server.forceShutdown();
  }
}
