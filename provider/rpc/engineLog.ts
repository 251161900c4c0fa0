/** Sends messages for the person who runs Pulumi to the log service of the engine. */
import { Metadata, credentials } from "@grpc/grpc-js";
import type { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb";
import type { Clock } from "../clock";
import type { Messages } from "../context";
import type { Redactor } from "../redaction";
import { truncate } from "./errors";

/**
 * The engine's severities, not imported, so that its protocol is loaded with the first message. ERROR would mark the
 * resource as failed although the run exits with 0.
 */
const severities = { debug: 0, info: 1, warning: 2 } as const;

/** The longest time that a reply is held back for messages. */
const flushMs = 1000;
const sendMs = 5000;

/**
 * Sends messages to the attached engine, and drops them while there is none. Only messages of the same URN wait for
 * each other, so that an older status does not replace a newer one. No method throws, and only `flush` waits.
 */
export class EngineLog implements Messages {
  readonly #redactor: Redactor;
  readonly #clock: Clock;
  #address: string | undefined;
  #client: Promise<EngineClient> | undefined;
  /** By URN: resolves when the last message was sent or has failed. */
  readonly #lastSent = new Map<string, Promise<void>>();

  constructor({ redactor, clock }: { redactor: Redactor; clock: Clock }) {
    this.#redactor = redactor;
    this.#clock = clock;
  }

  /** Sends all later messages to the engine at this address, unless it is empty. */
  attach(address: string): void {
    if (address === "" || address === this.#address) return;
    this.close();
    this.#address = address;
  }

  status(urn: string, text: string): void {
    this.#log("info", text, urn, true);
  }
  info(text: string, urn?: string): void {
    this.#log("info", text, urn);
  }
  warning(text: string, urn?: string): void {
    this.#log("warning", text, urn);
  }
  debug(text: string): void {
    this.#log("debug", text);
  }

  /**
   * Resolves when every message so far was sent or has failed, or after a second. The engine may end after its last
   * reply, and would not show a later warning.
   */
  async flush(): Promise<void> {
    if (this.#lastSent.size === 0) return;
    const timer = new AbortController();
    const sent = Promise.all(this.#lastSent.values()).then(() => timer.abort());
    // An engine that does not accept messages must delay only this reply.
    const giveUp = this.#clock
      .sleep(flushMs, timer.signal)
      .then(() => this.#lastSent.clear(), ignore);
    await Promise.race([sent, giveUp]);
  }

  /** Drops all later messages, until an engine attaches. */
  close(): void {
    void this.#client?.then((client) => client.close(), ignore);
    this.#client = undefined;
    this.#address = undefined;
  }

  /** The engine shows an ephemeral message in the Info column only, and does not keep it. */
  #log(severity: keyof typeof severities, text: string, urn = "", isEphemeral = false): void {
    if (this.#address === undefined) return;
    const client = (this.#client ??= connect(this.#address));
    const message = truncate(this.#redactor.redact(text));
    const previous = this.#lastSent.get(urn) ?? Promise.resolve();
    const sent = previous
      .then(async () => {
        const { LogRequest } = await import("@pulumi/pulumi/proto/engine_pb.js");
        const request = new LogRequest().setSeverity(severities[severity]).setMessage(message);
        await send(await client, request.setUrn(urn).setEphemeral(isEphemeral));
      })
      .catch(ignore)
      .finally(() => {
        if (this.#lastSent.get(urn) === sent) this.#lastSent.delete(urn);
      });
    this.#lastSent.set(urn, sent);
  }
}

async function connect(address: string): Promise<EngineClient> {
  const { EngineClient: Client } = await import("@pulumi/pulumi/proto/engine_grpc_pb.js");
  // The engine is on this machine.
  return new Client(address, credentials.createInsecure(), { "grpc.enable_http_proxy": 0 });
}

/** Resolves even if the call fails: a lost message can't be reported to anybody. */
function send(client: EngineClient, request: LogRequest): Promise<void> {
  return new Promise((resolve) => {
    const deadline = Date.now() + sendMs;
    client.log(request, new Metadata(), { deadline }, () => resolve());
  });
}

function ignore(): void {
  // No operation fails because a message could not be sent.
}
