/** Messages for the person, over the engine's log service. */
import { Metadata, credentials } from "@grpc/grpc-js";
import type { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import type { Clock } from "../clock";
import type { Messages } from "../context";
import type { Redactor } from "../redaction";
import { truncate } from "./errors";

/**
 * The engine's severities by number, so that the engine's protocol is loaded only with the first message.
 * ERROR is not used: it marks the resource as failed, and the run still exits with 0. Errors are returned.
 */
const severities = { debug: 0, info: 1, warning: 2 } as const;

interface LogMessage {
  severity: keyof typeof severities;
  text: string;
  urn?: string | undefined;
  /** For the Info column only: the engine does not keep it. */
  isEphemeral?: boolean;
}

/** How long an answer waits for the messages before it. */
const flushMs = 1000;
/** How long one message may take. */
const sendMs = 5000;

/**
 * Sends one message after the other, so that an older status never wins. No method throws, and only
 * `flush` waits. Without an engine's address, messages are dropped.
 */
export class EngineLog implements Messages {
  readonly #redactor: Redactor;
  readonly #clock: Clock;
  #address: string | undefined;
  #client: Promise<EngineClient> | undefined;
  /** Resolves once the engine has every message so far; undefined: it has, or it takes too long. */
  #sent: Promise<void> | undefined;

  constructor({ redactor, clock }: { redactor: Redactor; clock: Clock }) {
    this.#redactor = redactor;
    this.#clock = clock;
  }

  /** From now on, the engine at this address gets the messages (Handshake, Attach). */
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
   * Resolves once the engine has every message so far, or after a second. The engine may be gone after the
   * answer to its last call, and would miss a warning that is still on its way.
   */
  async flush(): Promise<void> {
    const sent = this.#sent;
    if (!sent) return;
    const timer = new AbortController();
    const giveUp = this.#clock.sleep(flushMs, timer.signal).then(() => {
      // An engine that takes no messages delays one answer, not all of them.
      if (this.#sent === sent) this.#sent = undefined;
    }, ignore);
    await Promise.race([sent.then(() => timer.abort()), giveUp]);
  }

  /** From now on, messages are dropped. */
  close(): void {
    void this.#client?.then((client) => client.close(), ignore);
    this.#client = undefined;
    this.#address = undefined;
  }

  #log(message: LogMessage): void {
    if (this.#address === undefined) return;
    const client = (this.#client ??= connect(this.#address));
    // Redacted at once: what counts is what is secret when the message is written.
    const text = truncate(this.#redactor.redact(message.text));
    const sent = Promise.resolve(this.#sent)
      .then(async () => send(await client, { ...message, text }))
      .catch(ignore)
      .finally(() => {
        if (this.#sent === sent) this.#sent = undefined;
      });
    this.#sent = sent;
  }
}

async function connect(address: string): Promise<EngineClient> {
  const { EngineClient: Client } = await import("@pulumi/pulumi/proto/engine_grpc_pb.js");
  // The engine is on this machine: a proxy from the environment has no part in it.
  return new Client(address, credentials.createInsecure(), { "grpc.enable_http_proxy": 0 });
}

/** Resolves however the call ends: there is nobody to tell of a message that was not taken. */
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
  // A message that is not sent is no reason for an operation to fail.
}
