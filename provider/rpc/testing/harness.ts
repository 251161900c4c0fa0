/** A server, a test engine and a client for a test. */
import type { Provider } from "../../pulumi/calls";
import type { Messages } from "../../context";
import { openPluginPort } from "../../process/pluginPort";
import { VirtualClock } from "../../testing/virtualClock";
import { Redactor } from "../../redaction";
import { EngineLog } from "../engineLog";
import type { ProviderServer } from "../server";
import { createServer } from "../handlers";
import { connect, type TestClient } from "./client";
import { TestEngine } from "./engine";
import { scriptedProvider, type RecordedCall } from "./scriptedProvider";

interface Harness {
  /** Makes no Handshake by itself. */
  client: TestClient;
  /** Connects another client, which attaches as an engine or another host with this address. */
  connect: (address: string) => Promise<TestClient>;
  server: ProviderServer;
  engine: TestEngine;
  redactor: Redactor;
  /** The calls of the provider. */
  calls: RecordedCall[];
  /** One entry for each time the provider was loaded. */
  loads: true[];
}

/**
 * Runs `body` with a server, its scripted provider, the engine that it logs to, and a client, over real sockets.
 * `script` has methods of the provider. As a function, it gets the messages to the engine.
 */
export async function withServer(
  script: Partial<Provider> | ((messages: Messages) => Partial<Provider>),
  body: (harness: Harness) => Promise<void>,
): Promise<void> {
  const redactor = new Redactor();
  const engine = await TestEngine.start();
  // The clock stands still, so that no message is dropped because the machine is busy.
  const log = new EngineLog(redactor, new VirtualClock());
  log.attach(engine.address);
  const { provider, calls } = scriptedProvider(typeof script === "function" ? script(log) : script);
  const loads: true[] = [];
  const server = createServer({
    loadProvider: async () => {
      loads.push(true);
      return provider;
    },
    schema: async () => '{"name":"compute"}',
    log,
    version: "1.2.3",
  });
  const port = await openPluginPort();
  server.answerOn(port);
  const client = connect(port.number);
  const clients = [client];
  const attach = async (address: string): Promise<TestClient> => {
    const attached = connect(port.number);
    clients.push(attached);
    await attached.handshake(address);
    await attached.attach(address);
    return attached;
  };
  try {
    await body({ client, connect: attach, server, engine, redactor, calls, loads });
  } finally {
    for (const each of clients) each.close();
    server.stop();
    engine.stop();
  }
}
