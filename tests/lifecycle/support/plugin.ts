/** One run of the plugin: what the engine starts, over real gRPC, but in the test's own process. */
import { cpSync } from "node:fs";
import metadata from "../../../metadata.json";
import { systemClock, type Clock } from "../../../provider/clock";
import { Secret, propertyMap, type PropertyValue } from "../../../provider/property/value";
import { createProvider } from "../../../provider/provider";
import type { Provider } from "../../../provider/requests";
import { EngineLog } from "../../../provider/rpc/engineLog";
import { createServer, type ProviderServer } from "../../../provider/rpc/server";
import { connect, type TestClient } from "../../../provider/rpc/testing/client";
import { TestEngine, type Logged } from "../../../provider/rpc/testing/engine";
import { readSchema } from "../../../provider/schema";
import { VirtualClock } from "../../../provider/testing/virtualClock";
import { Cleaner } from "../../../provider/text";
import { functionTokens, instanceToken } from "../../../provider/tokens";

export type Settings = Readonly<Record<string, PropertyValue>>;

const offer = { resources: [instanceToken], functions: functionTokens };

/** Quick where a test waits for it; no answer is given up because the machine is busy. */
const quick: Settings = {
  pollIntervalSeconds: 0.05,
  settlingSeconds: 0.6,
  requestTimeoutSeconds: 20,
};

/** For a test that waits for a request's time-out to strike. */
export const impatient: Settings = { requestTimeoutSeconds: 1 };

export class Plugin {
  /** Its engine is dead: what it answers from now on reaches nobody. */
  orphaned = false;

  private constructor(
    readonly client: TestClient,
    readonly engine: TestEngine,
    readonly home: string,
    private readonly clock: MortalClock,
    private readonly provider: Pick<Provider, "cancel" | "renew">,
    private readonly server: ProviderServer,
    private readonly given: Settings,
    private readonly scope: string,
  ) {}

  /**
   * `scope`: the id of the stack's provider resource. `speed`: how many times faster than the world's
   * its clock runs; sockets keep the world's time.
   */
  static async start(
    home: string,
    settings: Settings,
    { scope = "a-provider", env = {}, speed = 1 } = {},
  ): Promise<Plugin> {
    const clock = new MortalClock(speed);
    const cleaner = new Cleaner();
    const engine = await TestEngine.start();
    // Its time stands still: no message is given up because the machine is busy.
    const log = new EngineLog({ cleaner, clock: new VirtualClock(), address: engine.address });
    const provider = createProvider({
      messages: log,
      cleaner,
      clock,
      env: { PULUMI_HOME: home, COMPUTE_DEBUG: "1", ...env },
    });
    const server = createServer({
      provider,
      schema: readSchema,
      log,
      cleaner,
      version: metadata.version,
      offer,
    });
    const client = connect(await server.listen());
    const given = { ...quick, ...settings };
    const plugin = new Plugin(client, engine, home, clock, provider, server, given, scope);
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
    await this.configure(this.given);
  }

  async configure(settings: Settings): Promise<void> {
    const token = settings["apiToken"];
    const apiToken = typeof token === "string" ? new Secret(token) : token;
    await this.client.configure(propertyMap({ ...settings, apiToken }), this.scope);
  }

  get warnings(): string[] {
    return this.texts(({ severity }) => severity === "warning");
  }
  get logged(): readonly Logged[] {
    return this.engine.logged;
  }

  /** Whether it has said that by now, to a person or in its debug log. */
  said(like: RegExp): boolean {
    return this.logged.some(({ message }) => like.test(message));
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

  /** What it has told of possible leftovers; with a test token that is no warning. */
  get leftovers(): string[] {
    return this.texts(({ message }) => /^instances that may be left over/.test(message));
  }

  /** All warnings, once those on their way have come. */
  async allWarnings(): Promise<string[]> {
    await systemClock.sleep(150);
    return this.warnings;
  }

  /** Until it was stopped, killed, or left by its engine. */
  get alive(): boolean {
    return !this.orphaned && this.clock.runs;
  }

  stop(): void {
    this.clock.die();
    this.client.close();
    this.server.stop();
    this.engine.stop();
    // With its process the lock of its session ends.
    this.provider.cancel(false);
    this.provider.renew();
  }

  /** As `kill -9` does: nothing of it happens any more, and `home` gets its disk as it is now. */
  kill(home: string): void {
    cpSync(this.home, home, { recursive: true });
    this.stop();
  }

  /** As when the engine dies by `kill -9` (`rpc/shutdown.ts`); resolves once the plugin has ended. */
  async loseEngine(): Promise<void> {
    this.orphaned = true;
    // Nobody reads any more what it tells.
    this.engine.stop();
    this.client.close();
    this.provider.cancel(false, true);
    await this.server.drain();
    this.stop();
  }

  /** The date and time of day jump; what measures time does not. */
  setClockAhead(milliseconds: number): void {
    this.clock.ahead += milliseconds;
  }

  private texts(which: (line: Logged) => boolean): string[] {
    return this.engine.logged.filter(which).map(({ message }) => message);
  }
}

/**
 * The system's clock until the plugin's end. From then on nothing that sleeps wakes up, and who asks
 * for the date, as a create does before it writes its record and sends its POST, gets no further.
 */
class MortalClock implements Clock {
  ahead = 0;
  readonly #end = new AbortController();
  constructor(private readonly speed: number) {}
  now = () => systemClock.now() * this.speed;
  date(): Date {
    this.#end.signal.throwIfAborted();
    return new Date(systemClock.date().getTime() + this.ahead);
  }
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const ended = this.#end.signal;
    if (ended.aborted) return new Promise(() => undefined);
    const both = signal ? AbortSignal.any([signal, ended]) : ended;
    return new Promise((resolve, reject) => {
      systemClock.sleep(ms / this.speed, both).then(resolve, (error: unknown) => {
        if (!ended.aborted) reject(error);
      });
    });
  }
  get runs(): boolean {
    return !this.#end.signal.aborted;
  }
  die(): void {
    this.#end.abort();
  }
}
