import { Metadata, credentials } from "@grpc/grpc-js";
import type { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import type { Clock } from "../clock";
import type { Messages } from "../context";
import type { Redactor } from "../redaction";
import { truncate } from "./clip";

/**
 * The engine's severities by number, so that its protocol is loaded only once there is something to
 * say. ERROR is not among them: it marks the resource as failed, and the run still exits with 0; errors
 * are returned.
 */
const severities = { debug: 0, info: 1, warning: 2 } as const;

interface Line {
  severity: keyof typeof severities;
  text: string;
  urn: string;
  ephemeral: boolean;
}

/** How long an answer waits for what was said before it. */
const flushMs = 1000;
/** After that the engine has not taken one line; it is given up. */
const sendMs = 5000;

/**
 * `Messages` over the engine's log service. Nothing here throws, and nothing waits but `flush`. Until
 * an engine's address is known there is nobody to tell, and messages are dropped.
 */
export class EngineLog implements Messages {
  #address: string | undefined;
  #client: Promise<EngineClient> | undefined;
  /** Settled once the engine has all that was said; undefined: it has, or has taken too long. */
  #telling: Promise<void> | undefined;
  /** The last line of each resource: the next follows it, so that an older status never wins. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(private readonly options: { redactor: Redactor; clock: Clock }) {}

  /** A new engine (Handshake, Attach): from now on it is the one told. */
  attach(address: string): void {
    if (address === "" || address === this.#address) return;
    this.close();
    this.#address = address;
  }

  status(urn: string, text: string): void {
    this.#log({ severity: "info", text, urn, ephemeral: true });
  }
  info(text: string, urn = ""): void {
    this.#log({ severity: "info", text, urn, ephemeral: false });
  }
  warning(text: string, urn = ""): void {
    this.#log({ severity: "warning", text, urn, ephemeral: false });
  }
  debug(text: string): void {
    this.#log({ severity: "debug", text, urn: "", ephemeral: false });
  }

  /**
   * Until the engine has all that was said so far, one second at most. After the answer to its last
   * call the engine may be gone, and a warning on the way with it.
   */
  async flush(): Promise<void> {
    const telling = this.#telling;
    if (!telling) return;
    const patience = new AbortController();
    // Waited for once: an engine that takes no messages does not delay every answer.
    const giveUp = () => (this.#telling = undefined);
    const waited = this.options.clock.sleep(flushMs, patience.signal).then(giveUp, ignore);
    await Promise.race([telling.then(() => patience.abort()), waited]);
  }

  /** From now on there is nobody to tell. */
  close(): void {
    void this.#client?.then((client) => client.close(), ignore);
    this.#client = undefined;
    this.#address = undefined;
  }

  #log({ text, ...line }: Line): void {
    if (this.#address === undefined) return;
    const client = (this.#client ??= connect(this.#address));
    // Cleaned now: what is secret then may be another matter.
    const message = truncate(this.options.redactor.redact(text));
    const before = this.#last.get(line.urn) ?? Promise.resolve();
    const sent = before
      .then(async () => send(await client, { ...line, text: message }))
      .catch(ignore)
      .finally(() => {
        if (this.#last.get(line.urn) === sent) this.#last.delete(line.urn);
      });
    this.#last.set(line.urn, sent);
    // One promise for all, which the next one is added to: hundreds of answers wait for it at once.
    const others = this.#telling;
    const telling = sent
      .then(() => others)
      .then(() => {
        if (this.#telling === telling) this.#telling = undefined;
      });
    this.#telling = telling;
  }
}

async function connect(address: string): Promise<EngineClient> {
  const { EngineClient: Client } = await import("@pulumi/pulumi/proto/engine_grpc_pb.js");
  // The engine is on this machine: a proxy from the environment has no part in it.
  return new Client(address, credentials.createInsecure(), { "grpc.enable_http_proxy": 0 });
}

async function send(client: EngineClient, line: Line): Promise<void> {
  const { LogRequest } = await import("@pulumi/pulumi/proto/engine_pb.js");
  const request = new LogRequest();
  request.setSeverity(severities[line.severity]);
  request.setMessage(line.text);
  request.setUrn(line.urn);
  request.setEphemeral(line.ephemeral);
  await new Promise<void>((resolve) => {
    // Refused, timed out or taken: there is nobody to tell of it.
    const done = () => resolve();
    client.log(request, new Metadata(), { deadline: Date.now() + sendMs }, done);
  });
}

function ignore(): void {
  // An unsent message is no reason for an operation to fail.
}
