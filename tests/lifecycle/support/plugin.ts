/** A running plugin for the lifecycle tests: the real provider over real gRPC, in the process of the test. */
import metadata from "../../../metadata.json";
import { systemClock, type Clock } from "../../../provider/clock";
import { Secret, propertyMap, type PropertyValue } from "../../../provider/pulumi/propertyValue";
import { openPluginPort } from "../../../provider/process/pluginPort";
import { createProvider } from "../../../provider/provider";
import { EngineLog } from "../../../provider/rpc/engineLog";
import { createServer } from "../../../provider/rpc/handlers";
import { connect, type TestClient } from "../../../provider/rpc/testing/client";
import { TestEngine, type LoggedMessage } from "../../../provider/rpc/testing/engine";
import { readSchema } from "../../../provider/process/executable";
import { VirtualClock } from "../../../provider/testing/virtualClock";
import { Redactor } from "../../../provider/redaction";

export type Settings = Readonly<Record<string, PropertyValue>>;

/** Short waits, but a long request time-out, so that no request fails because the machine is busy. */
const quick: Settings = {
  pollIntervalSeconds: 0.05,
  settlingSeconds: 0.6,
  requestTimeoutSeconds: 20,
};

/** What a plugin may be given. The default clock is that of the system. */
export interface PluginOptions {
  clock?: Clock;
  env?: NodeJS.ProcessEnv;
}

/** A plugin as the engine sees it. It runs in the process of the test. */
export interface Plugin {
  client: TestClient;
  logged: readonly LoggedMessage[];
  /** Ends the plugin, as if its process ended. */
  stop(): void;
}

/**
 * Starts a plugin, and configures it as an engine does for a program. `scope` is the id of the provider resource of the
 * stack. `env` is added to the environment.
 */
export async function startPlugin(
  home: string,
  settings: Settings,
  { scope, clock = systemClock, env }: { scope: string } & PluginOptions,
): Promise<Plugin> {
  const redactor = new Redactor();
  const engine = await TestEngine.start();
  // The log gets a clock that stands still, so that no message is dropped because the machine is busy.
  const log = new EngineLog(redactor, new VirtualClock());
  log.attach(engine.address);
  const provider = createProvider({
    messages: log,
    redactor,
    clock,
    env: { PULUMI_HOME: home, COMPUTE_DEBUG: "1", ...env },
  });
  const server = createServer({
    loadProvider: async () => provider,
    schema: readSchema,
    log,
    version: metadata.version,
  });
  const port = await openPluginPort();
  server.answerOn(port);
  const client = connect(port.number);
  const stop = () => {
    client.close();
    server.stop();
    engine.stop();
    // The end of the process releases the lock of its session.
    provider.cancel("interrupted");
    provider.renew();
  };
  try {
    await client.handshake(engine.address);
    const token = settings["apiToken"];
    const apiToken = typeof token === "string" ? new Secret(token) : token;
    const args = propertyMap({ ...quick, ...settings, apiToken });
    await client.checkConfig({ news: args });
    await client.configure(args, scope);
  } catch (error) {
    stop();
    throw error;
  }
  return { client, logged: engine.logged, stop };
}
