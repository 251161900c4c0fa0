/** Sends messages for the person who runs Pulumi to the log service of the engine. The whole provider uses it. */
import { Metadata, credentials } from "@grpc/grpc-js";
import type { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import type { Clock } from "../clock";
import type { Messages } from "../context";
import type { Redactor } from "../redaction";
import { truncate } from "./errors";

/**
 * The numbers of the engine's severities. They are not imported, so that the engine's protocol is loaded only
 * with the first message. ERROR is not used, because it marks the resource as failed although the run exits
 * with 0. Operations return their errors instead.
 */
const severities = { debug: 0, info: 1, warning: 2 } as const;

interface LogMessage {
  severity: keyof typeof severities;
  text: string;
  urn?: string | undefined;
  /** Whether the engine shows the message in the Info column only, and does not keep it. */
  isEphemeral?: boolean;
}

/** The longest time that a reply is held back for messages that are still being sent. */
const flushMs = 1000;
/** How long sending one message may take. */
const sendMs = 5000;

/**
 * Sends messages to the engine that is attached, and drops messages while no engine is. Messages of the same URN are sent
 * one after the other, so that an older status does not replace a newer one (unless `flush` has given up on the older
 * one). Messages of different URNs do not wait for each other. No method throws, and only `flush` waits.
 */
export class EngineLog implements Messages {
  readonly #redactor: Redactor;
  readonly #clock: Clock;
  #address: string | undefined;
  #client: Promise<EngineClient> | undefined;
  /**
   * For each URN with messages that are still being sent: a promise that resolves when the last of them was sent or has
   * failed. `flush` clears the map when it gives up.
   */
  readonly #lastSent = new Map<string, Promise<void>>();

  constructor({ redactor, clock }: { redactor: Redactor; clock: Clock }) {
    this.#redactor = redactor;
    this.#clock = clock;
  }

  /**
   * Sends all later messages to the engine at this address, which has connected (Handshake, Attach). Ignores an empty
   * address.
   */
  attach(address: string): void {
    if (address === "" || address === this.#address) return;
    this.close();
    this.#address = address;
  }

  status(urn: string, text: string): void {
    this.#log({ severity: "info", text, urn, isEphemeral: true });
  }
  info(text: string, urn?: string): void {
    this.#log({ severity: "info", text, urn });
  }
  warning(text: string, urn?: string): void {
    this.#log({ severity: "warning", text, urn });
  }
  debug(text: string): void {
    this.#log({ severity: "debug", text });
  }

  /**
   * Resolves when every message so far was sent or has failed, but after a second at the latest. The engine may end
   * after the reply to its last call, and would not show a warning that arrives later.
   */
  async flush(): Promise<void> {
    if (this.#lastSent.size === 0) return;
    const timer = new AbortController();
    const sent = Promise.all(this.#lastSent.values()).then(() => timer.abort());
    // An engine that does not accept messages must delay only this reply, not all later ones.
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

  #log(message: LogMessage): void {
    if (this.#address === undefined) return;
    const client = (this.#client ??= connect(this.#address));
    // The text is redacted now, and not when it is sent, with the secrets that are known now.
    const text = truncate(this.#redactor.redact(message.text));
    const { urn = "" } = message;
    const previous = this.#lastSent.get(urn) ?? Promise.resolve();
    const sent = previous
      .then(async () => send(await client, { ...message, text }))
      .catch(ignore)
      .finally(() => {
        if (this.#lastSent.get(urn) === sent) this.#lastSent.delete(urn);
      });
    this.#lastSent.set(urn, sent);
  }
}

async function connect(address: string): Promise<EngineClient> {
  const { EngineClient: Client } = await import("@pulumi/pulumi/proto/engine_grpc_pb.js");
  // The engine is on this machine, so a proxy from the environment is not used.
  return new Client(address, credentials.createInsecure(), { "grpc.enable_http_proxy": 0 });
}

/** Resolves even if the call fails: a lost message can't be reported to anybody. */
async function send(client: EngineClient, message: LogMessage): Promise<void> {
  const { LogRequest } = await import("@pulumi/pulumi/proto/engine_pb.js");
  const request = new LogRequest()
    .setSeverity(severities[message.severity])
    .setMessage(message.text)
    .setUrn(message.urn ?? "")
    .setEphemeral(message.isEphemeral ?? false);
  await new Promise<void>((resolve) => {
    const deadline = Date.now() + sendMs;
    client.log(request, new Metadata(), { deadline }, () => resolve());
  });
}

function ignore(): void {
  // No operation fails because a message could not be sent.
}
