/** Sends messages for the person who runs Pulumi to the log service of the engine. */
import type { Clock } from "../clock";
import type { Messages, Text } from "../context";
import type { Redactor } from "../redaction";
import type { EngineClient, Message } from "./engineClient";

/** The longest time that a reply is held back for messages. */
const flushMs = 1000;

/** The versions of the engine that show what the plugin sends after the Cancel at the end of a run. */
export const cancelsAtEnd = ">=3.231.0";

/** In UTF-16 units. HTTP/2 trailers, in which an error message is sent twice, are not meant for pages of text. */
export const maxMessageLength = 4096;

/** The messages about one resource, or about none. */
interface Queue {
  /** Resolves when the last message was sent or has failed. */
  last: Promise<void>;
  /** The last message, as long as it waits for earlier messages. */
  waiting: Message | undefined;
}

/**
 * Sends messages to the attached engine, and drops them while there is none. Only messages of the same URN wait for
 * each other, so that an older status does not replace a newer one. Many messages cost few calls: a status that waits
 * is replaced by a newer one, and debug lines that wait are sent together. No method of `Messages` throws or waits.
 */
export class EngineLog implements Messages {
  readonly #redactor: Redactor;
  readonly #clock: Clock;
  #address = "";
  #client: Promise<EngineClient> | undefined;
  /** By URN. A queue is removed once all its messages are accepted. */
  readonly #sending = new Map<string, Queue>();

  constructor(redactor: Redactor, clock: Clock) {
    this.#redactor = redactor;
    this.#clock = clock;
  }

  /** The address of the attached engine. Empty if there is none. */
  get address(): string {
    return this.#address;
  }

  /** Sends all later messages to this address, unless it is empty. */
  attach(address: string): void {
    if (address === "" || address === this.#address) return;
    this.close();
    this.#address = address;
  }

  status = (urn: string, text: string) => this.#log("info", text, urn, true);
  info = (text: Text, urn?: string) => this.#log("info", text, urn);
  warning = (text: Text, urn?: string) => this.#log("warning", text, urn);
  debug = (text: string) => this.#log("debug", text);

  /** Returns the text that a person may see: each line without secrets (G8), and cut, but not through a surrogate pair. */
  clean(...lines: readonly string[]): string {
    const text = lines.map((line) => this.#redactor.redact(line)).join("\n");
    if (text.length <= maxMessageLength) return text;
    return `${text.slice(0, maxMessageLength - 1).replace(/[\ud800-\udbff]$/, "")}…`;
  }

  /**
   * Resolves when every message so far was sent or has failed, or after a second. The engine may end after its last reply, and
   * would not show a later warning.
   */
  async flush(): Promise<void> {
    if (this.#sending.size === 0) return;
    const timer = new AbortController();
    const all = [...this.#sending.values()].map(({ last }) => last);
    const sent = Promise.all(all).then(() => timer.abort());
    // An engine that does not accept messages must delay only this reply.
    const giveUp = this.#clock
      .sleep(flushMs, timer.signal)
      .then(() => this.#sending.clear(), ignore);
    await Promise.race([sent, giveUp]);
  }

  /** As `EngineClient.isOfVersion`. */
  async isOfVersion(range: string): Promise<boolean> {
    if (this.#address === "") return false;
    const client = await (this.#client ??= connect(this.#address));
    return client.isOfVersion(range);
  }

  /** Drops all later messages, until an engine attaches. */
  close(): void {
    void this.#client?.then((client) => client.close(), ignore);
    this.#client = undefined;
    this.#address = "";
    // No message for the next engine may join the waiting messages, or wait for them.
    this.#sending.clear();
  }

  #log(severity: Message["severity"], text: Text, urn = "", isEphemeral = false): void {
    if (this.#address === "") return;
    // Each line is cut by itself, so that a long list is whole.
    const lines = [text].flat().map((line) => this.clean(line));
    const message: Message = { severity, isEphemeral, text: lines.join("\n") };
    const client = (this.#client ??= connect(this.#address));
    const earlier = this.#sending.get(urn);
    if (earlier?.waiting && tookIn(earlier.waiting, message)) return;
    const last = (earlier?.last ?? Promise.resolve())
      .then(async () => {
        if (sending.waiting === message) sending.waiting = undefined;
        await (await client).log(urn, message);
      })
      .catch(ignore)
      .finally(() => {
        if (this.#sending.get(urn) === sending) this.#sending.delete(urn);
      });
    const sending: Queue = { last, waiting: message };
    this.#sending.set(urn, sending);
  }
}

/** Joins a message to the one that waits before it. Returns false if that would lose a message that a person is to see. */
function tookIn(waiting: Message, { severity, isEphemeral, text }: Message): boolean {
  if (waiting.severity !== severity || waiting.isEphemeral !== isEphemeral) return false;
  if (isEphemeral) {
    waiting.text = text;
    return true;
  }
  // The engine shows a message that is no debug line to a person by itself.
  if (severity !== "debug") return false;
  waiting.text += `\n${text}`;
  return true;
}

async function connect(address: string): Promise<EngineClient> {
  const { EngineClient: Client } = await import("./engineClient.js");
  return new Client(address);
}

function ignore(): void {
  // No operation fails because a message could not be sent.
}
