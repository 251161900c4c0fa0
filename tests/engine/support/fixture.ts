/** The fixture of nearly every engine test: an emulator, and a stack that uses it. */
import { startEmulator, type Emulator, type EmulatorOptions } from "../../../emulator";
import { refuseSecrets } from "./secrets";
import { Stack, type StackOptions } from "./stack";

/** The options of the stack and of the emulator. */
export interface FixtureOptions extends StackOptions {
  service?: EmulatorOptions;
}

/** An emulator and a stack, which are both closed at the end of the test. */
export class Fixture implements AsyncDisposable {
  readonly #serviceLog: readonly string[];
  private constructor(
    readonly service: Emulator,
    readonly stack: Stack,
    serviceLog: readonly string[],
  ) {
    this.#serviceLog = serviceLog;
  }

  /**
   * Starts the emulator and creates the stack. By default, instances are ready at once and listings follow each
   * other quickly.
   */
  static async create({ service, config, ...options }: FixtureOptions): Promise<Fixture> {
    const serviceLog: string[] = [];
    const log = (line: string) => void serviceLog.push(line);
    const emulator = await startEmulator({
      provisioningSeconds: 0,
      log,
      errorLog: log,
      ...service,
    });
    try {
      const quick = { pollIntervalSeconds: "0.2", settlingSeconds: "1" };
      const stack = await Stack.create({
        baseUrl: emulator.url,
        config: { ...quick, ...config },
        ...options,
      });
      return new Fixture(emulator, stack, serviceLog);
    } catch (error) {
      await emulator.close();
      throw error;
    }
  }

  /** The ids of the instances that exist now, oldest first. */
  ids(): string[] {
    return this.service.control.instances().map(({ id }) => id);
  }

  /** The number of POSTs. */
  posts(): number {
    return this.service.counts()["POST /v2/instances"] ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      // The service may log the names of instances.
      const logged = [...this.#serviceLog, JSON.stringify(this.service.control.requests())];
      refuseSecrets("the emulator's log", logged.join("\n"), ["token", "userData"]);
    } finally {
      await this.#stop();
    }
  }

  async #stop(): Promise<void> {
    try {
      await this.stack[Symbol.asyncDispose]();
    } finally {
      await this.service.close();
    }
  }
}
