/** A server, a test engine and a client for a test. */
import { once } from "node:events";
import type { Socket } from "node:net";
import type { Provider } from "../../requests";
import type { Messages } from "../../context";
import { openPluginPort } from "../../pluginPort";
import { VirtualClock } from "../../testing/virtualClock";
import { Redactor } from "../../redaction";
import { EngineLog } from "../engineLog";
import type { ProviderServer } from "../server";
import { createServer } from "../service";
import { connect, type TestClient } from "./client";
import { TestEngine } from "./engine";
import { scriptedProvider, type RecordedCall } from "./scriptedProvider";

/** A client with a Handshake, as an engine makes one in attach mode. */
interface AttachedClient {
  client: TestClient;
  /** Closes the connection, as when the engine ends. Resolves when the server knows. */
  end(): Promise<void>;
}

interface Harness {
  /** Makes no Handshake by itself. */
  client: TestClient;
  /** Connects another client. With an empty address, it makes no Handshake. */
  connect: (engineAddress: string) => Promise<AttachedClient>;
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
  const sockets: Socket[] = [];
  server.answerOn({
    ...port,
    onConnection: (accept) =>
      port.onConnection((socket) => {
        sockets.push(socket);
        accept(socket);
      }),
  });
  const client = connect(port.number);
  const clients = [client];
  const attach = async (engineAddress: string): Promise<AttachedClient> => {
    const attached = connect(port.number);
    clients.push(attached);
    await attached.version();
    const socket = sockets.at(-1);
    if (!socket) throw new Error("the client has no connection");
    if (engineAddress !== "") {
      await attached.handshake(engineAddress);
      await attached.attach(engineAddress);
    }
    const end = async () => {
      const closed = once(socket, "close");
      attached.close();
      await closed;
    };
    return { client: attached, end };
  };
  try {
    await body({ client, connect: attach, server, engine, redactor, calls, loads });
  } finally {
    for (const each of clients) each.close();
    server.stop();
    engine.stop();
  }
}
