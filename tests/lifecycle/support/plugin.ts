/** One run of the plugin: what the engine starts, over real gRPC, but in the test's own process. */
import metadata from "../../../metadata.json";
import { systemClock, type Clock } from "../../../provider/clock";
import { Secret, propertyMap, type PropertyValue } from "../../../provider/propertyValue";
import { createProvider } from "../../../provider/provider";
import type { Provider } from "../../../provider/requests";
import { EngineLog } from "../../../provider/rpc/engineLog";
import { ProviderServer } from "../../../provider/rpc/server";
import { connect, type TestClient } from "../../../provider/rpc/testing/client";
import { TestEngine, type Logged } from "../../../provider/rpc/testing/engine";
import { readSchema } from "../../../provider/executable";
import { VirtualClock } from "../../../provider/testing/virtualClock";
import { Redactor } from "../../../provider/redaction";

export type Settings = Readonly<Record<string, PropertyValue>>;

/** Quick where a test waits for it; no answer is given up because the machine is busy. */
const quick: Settings = {
  pollIntervalSeconds: 0.05,
  settlingSeconds: 0.6,
  requestTimeoutSeconds: 20,
};

/** For a test that waits for a request's time-out to strike. */
export const impatient: Settings = { requestTimeoutSeconds: 1 };

export class Plugin {
  readonly #clock: PluginClock;
  readonly #provider: Pick<Provider, "cancel" | "renew">;
  readonly #server: ProviderServer;
  readonly #given: Settings;
  readonly #scope: string;
  private constructor(
    readonly client: TestClient,
    readonly engine: TestEngine,
    clock: PluginClock,
    provider: Pick<Provider, "cancel" | "renew">,
    server: ProviderServer,
    given: Settings,
    scope: string,
  ) {
    this.#clock = clock;
    this.#provider = provider;
    this.#server = server;
    this.#given = given;
    this.#scope = scope;
  }

  /**
   * `scope`: the id of the stack's provider resource. `speed`: how many times faster than the world's
   * its clock runs; sockets keep the world's time.
   */
  static async start(
    home: string,
    settings: Settings,
    { scope = "a-provider", speed = 1 } = {},
  ): Promise<Plugin> {
    const clock = new PluginClock(speed);
    const redactor = new Redactor();
    const engine = await TestEngine.start();
    // Its time stands still: no message is given up because the machine is busy.
    const log = new EngineLog({ redactor, clock: new VirtualClock() });
    log.attach(engine.address);
    const provider = createProvider({
      messages: log,
      redactor,
      clock,
      env: { PULUMI_HOME: home, COMPUTE_DEBUG: "1" },
    });
    const server = new ProviderServer({
      loadProvider: async () => provider,
      schema: readSchema,
      log,
      redactor,
      version: metadata.version,
    });
    const client = connect(await server.listen());
    const given = { ...quick, ...settings };
    const plugin = new Plugin(client, engine, clock, provider, server, given, scope);
    try {
      await plugin.greet();
    } catch (error) {
      plugin.stop();
      throw error;
    }
    return plugin;
  }

  /** As each engine begins: with a session of its own, which it configures. */
  async greet(): Promise<void> {
    await this.client.handshake(this.engine.address);
    await this.configure(this.#given);
  }

  async configure(settings: Settings): Promise<void> {
    const token = settings["apiToken"];
    const apiToken = typeof token === "string" ? new Secret(token) : token;
    await this.client.configure(propertyMap({ ...settings, apiToken }), this.#scope);
  }

  get warnings(): string[] {
    return this.logged
      .filter(({ severity }) => severity === "warning")
      .map(({ message }) => message);
  }
  get logged(): readonly Logged[] {
    return this.engine.logged;
  }

  /** The first warning like this; messages travel on their own and may come after the answer. */
  async warning(like: RegExp): Promise<string> {
    for (let look = 0; look < 100; look++) {
      const found = this.warnings.find((text) => like.test(text));
      if (found !== undefined) return found;
      await systemClock.sleep(20);
    }
    throw new Error(`no warning like ${String(like)} in ${JSON.stringify(this.warnings)}`);
  }

  stop(): void {
    this.#clock.die();
    this.client.close();
    this.#server.stop();
    this.engine.stop();
    // With its process the lock of its session ends.
    this.#provider.cancel(false);
    this.#provider.renew();
  }
}

/**
 * The system's clock until the plugin's end. From then on nothing that sleeps wakes up, and who asks
 * for the date, as a create does before it writes its record and sends its POST, gets no further.
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
