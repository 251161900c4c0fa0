/** Calls the engine. Imported with the first call, because the engine waits while the plugin loads. */
import { credentials, Metadata } from "@grpc/grpc-js";
import { EngineClient as Client } from "@pulumi/pulumi/proto/engine_grpc_pb";
import {
  LogRequest,
  LogSeverity,
  RequirePulumiVersionRequest,
} from "@pulumi/pulumi/proto/engine_pb";

/** ERROR would mark the resource as failed although the run exits with 0. */
const severities = {
  debug: LogSeverity.DEBUG,
  info: LogSeverity.INFO,
  warning: LogSeverity.WARNING,
} as const;

const callMs = 5000;

/** What the engine is to show or to record. It shows an ephemeral message in the Info column only, and does not keep it. */
export interface Message {
  severity: keyof typeof severities;
  isEphemeral: boolean;
  text: string;
}

/** A connection to the engine. */
export class EngineClient {
  readonly #client: Client;

  constructor(address: string) {
    // The engine is on this machine.
    const options = { "grpc.enable_http_proxy": 0 };
    this.#client = new Client(address, credentials.createInsecure(), options);
  }

  /** Resolves even if the call fails: a lost message can't be reported to anybody. */
  log(urn: string, { severity, isEphemeral, text }: Message): Promise<void> {
    const request = new LogRequest()
      .setSeverity(severities[severity])
      .setMessage(text)
      .setUrn(urn)
      .setEphemeral(isEphemeral);
    return new Promise((resolve) => {
      this.#client.log(request, new Metadata(), callDeadline(), () => resolve());
    });
  }

  /** Resolves to whether the engine has a version in this range. Engines before 3.217 can't tell, and count as outside. */
  isOfVersion(range: string): Promise<boolean> {
    const request = new RequirePulumiVersionRequest().setPulumiVersionRange(range);
    return new Promise((resolve) => {
      const answer = (error: unknown) => resolve(error === null);
      this.#client.requirePulumiVersion(request, new Metadata(), callDeadline(), answer);
    });
  }

  close(): void {
    this.#client.close();
  }
}

function callDeadline(): { deadline: number } {
  return { deadline: Date.now() + callMs };
}
