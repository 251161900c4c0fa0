/** A running plugin for the lifecycle tests: the real provider over real gRPC, in the process of the test. */
import metadata from "../../../metadata.json";
import { systemClock, type Clock } from "../../../provider/clock";
import { Secret, propertyMap, type PropertyValue } from "../../../provider/propertyValue";
import { createProvider } from "../../../provider/provider";
import type { Provider } from "../../../provider/requests";
import { EngineLog } from "../../../provider/rpc/engineLog";
import type { ProviderServer } from "../../../provider/rpc/server";
import { createServer } from "../../../provider/rpc/service";
import { connect, type TestClient } from "../../../provider/rpc/testing/client";
import { TestEngine, type LoggedMessage } from "../../../provider/rpc/testing/engine";
import { readSchema } from "../../../provider/executable";
import { VirtualClock } from "../../../provider/testing/virtualClock";
import { Redactor } from "../../../provider/redaction";

export type Settings = Readonly<Record<string, PropertyValue>>;

/** Short waits, but a long request time-out, so that no request fails because the machine is busy. */
const quick: Settings = {
  pollIntervalSeconds: 0.05,
  settlingSeconds: 0.6,
  requestTimeoutSeconds: 20,
};

/** The settings of a test that waits for the time-out of a request. */
export const impatient: Settings = { requestTimeoutSeconds: 1 };

interface Parts {
  clock: PluginClock;
  provider: Pick<Provider, "cancel" | "renew">;
  server: ProviderServer;
  settings: Settings;
  scope: string;
}

/** A plugin as the engine sees it. It runs in the process of the test. */
export class Plugin {
  readonly #parts: Parts;
  private constructor(
    readonly client: TestClient,
    readonly engine: TestEngine,
    parts: Parts,
  ) {
    this.#parts = parts;
  }

  /**
   * `scope` is the id of the provider resource of the stack. `speed` is how many times faster than real time the clock of
   * the plugin runs, which does not make sockets faster. `env` is added to the environment.
   */
  static async start(
    home: string,
    settings: Settings,
    { scope, speed, env }: { scope: string; speed: number; env: NodeJS.ProcessEnv },
  ): Promise<Plugin> {
    const clock = new PluginClock(speed);
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
    const client = connect(await server.listen());
    const parts = { clock, provider, server, settings: { ...quick, ...settings }, scope };
    const plugin = new Plugin(client, engine, parts);
    try {
      await plugin.greet();
    } catch (error) {
      plugin.stop();
      throw error;
    }
    return plugin;
  }

  /** Begins a session and configures it, as an engine does for a program. */
  async greet(): Promise<void> {
    await this.client.handshake(this.engine.address);
    const { settings, scope } = this.#parts;
    const token = settings["apiToken"];
    const apiToken = typeof token === "string" ? new Secret(token) : token;
    const args = propertyMap({ ...settings, apiToken });
    await this.client.checkConfig({ news: args });
    await this.client.configure(args, scope);
  }

  get warnings(): string[] {
    return this.logged
      .filter(({ severity }) => severity === "warning")
      .map(({ message }) => message);
  }
  get logged(): readonly LoggedMessage[] {
    return this.engine.logged;
  }

  /** Returns the first warning that matches. Waits for it, because messages may arrive after the response. */
  async warning(pattern: RegExp): Promise<string> {
    for (let look = 0; look < 100; look++) {
      const found = this.warnings.find((text) => pattern.test(text));
      if (found !== undefined) return found;
      await systemClock.sleep(20);
    }
    throw new Error(`no warning matches ${String(pattern)} in ${JSON.stringify(this.warnings)}`);
  }

  /** Ends the plugin, as if its process ended. */
  stop(): void {
    const { clock, server, provider } = this.#parts;
    clock.die();
    this.client.close();
    server.stop();
    this.engine.stop();
    // The end of the process releases the lock of its session.
    provider.cancel(false);
    provider.renew();
  }
}

/**
 * The clock of a plugin that can die. After its death, no sleep ends, and `date` throws. A create needs the date for
 * its record before it sends its POST, so a dead plugin sends no POST.
 */
class PluginClock implements Clock {
  readonly #speed: number;
  readonly #end = new AbortController();
  constructor(speed: number) {
    this.#speed = speed;
  }
  now = () => systemClock.now() * this.#speed;
  date(): Date {
    this.#end.signal.throwIfAborted();
    return systemClock.date();
  }
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const ended = this.#end.signal;
    if (ended.aborted) return new Promise(() => undefined);
    const both = signal ? AbortSignal.any([signal, ended]) : ended;
    return new Promise((resolve, reject) => {
      systemClock.sleep(ms / this.#speed, both).then(resolve, (error: unknown) => {
        if (!ended.aborted) reject(error);
      });
    });
  }
  die(): void {
    this.#end.abort();
  }
}
