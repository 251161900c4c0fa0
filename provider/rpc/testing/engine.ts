/** The services of an engine for its plugins, for tests. It keeps every message that it receives. */
import { Server, ServerCredentials, status, type handleUnaryCall } from "@grpc/grpc-js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import {
  LogSeverity,
  RequirePulumiVersionResponse,
  type LogRequest,
  type RequirePulumiVersionRequest,
} from "@pulumi/pulumi/proto/engine_pb";

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

/** An engine that takes messages, and says whether its version is in a range. */
export class TestEngine {
  readonly logged: LoggedMessage[] = [];
  /** The ranges of versions that its own is in. */
  readonly ranges = new Set<string>();
  /** Called before a message is kept and answered. */
  beforeLog: (message: string) => Promise<void> = () => Promise.resolve();

  private constructor(
    private readonly server: Server,
    readonly address: string,
  ) {}

  /** `asksVersion`: whether a provider can ask for its version, as it can of engines since 3.217. */
  static async start(asksVersion = true): Promise<TestEngine> {
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
    const requirePulumiVersion: handleUnaryCall<
      RequirePulumiVersionRequest,
      RequirePulumiVersionResponse
    > = ({ request }, callback) => {
      const isInside = engine.ranges.has(request.getPulumiVersionRange());
      if (isInside) callback(null, new RequirePulumiVersionResponse());
      else callback({ code: status.UNKNOWN, details: "another version" });
    };
    server.addService(EngineService, { log, ...(asksVersion && { requirePulumiVersion }) });
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
