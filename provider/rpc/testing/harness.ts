/** Starts a server, a test engine and a client for a test. */
import type { Provider } from "../../requests";
import type { Messages } from "../../context";
import { VirtualClock } from "../../testing/virtualClock";
import { Redactor } from "../../redaction";
import { EngineLog } from "../engineLog";
import type { ProviderServer } from "../server";
import { createServer } from "../service";
import { connect, type TestClient } from "./client";
import { TestEngine } from "./engine";
import { scriptedProvider, type RecordedCall } from "./scriptedProvider";

/** A server with a scripted provider, the engine that it logs to, and a client. All use real sockets. */
export interface Harness {
  client: TestClient;
  server: ProviderServer;
  engine: TestEngine;
  messages: Messages;
  redactor: Redactor;
  /** The calls of the provider so far. */
  calls: RecordedCall[];
  /** One entry for each time the provider was loaded. */
  loads: true[];
}

/**
 * Starts a harness, runs `body` with it, and stops it again. `script` has the provider's methods that the test
 * chooses (`scriptedProvider`). As a function, it gets the messages to the engine, and returns such methods.
 */
export async function withServer(
  script: Partial<Provider> | ((messages: Messages) => Partial<Provider>),
  body: (harness: Harness) => Promise<void>,
): Promise<void> {
  const redactor = new Redactor();
  const engine = await TestEngine.start();
  // The time of this clock stands still, so that no message is dropped because the machine is busy.
  const clock = new VirtualClock();
  const log = new EngineLog({ redactor, clock });
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
    redactor,
    version: "1.2.3",
  });
  const client = connect(await server.listen());
  try {
    await body({ client, server, engine, messages: log, redactor, calls, loads });
  } finally {
    client.close();
    server.stop();
    engine.stop();
  }
}
