/** A service and a stack that points to it: what nearly every test starts from. */
import { startEmulator, type Emulator, type EmulatorOptions } from "../../../emulator";
import { refuseSecrets } from "./secrets";
import { Stack, type StackOptions } from "./stack";

export interface FixtureOptions extends StackOptions {
  service?: EmulatorOptions;
}

export class Fixture implements AsyncDisposable {
  readonly #serviceLog: readonly string[];
  private constructor(
    readonly service: Emulator,
    readonly stack: Stack,
    serviceLog: readonly string[],
  ) {
    this.#serviceLog = serviceLog;
  }

  /** Instances are ready at once, and looks follow each other quickly, unless told otherwise. */
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

  /** Ids of what exists at the service now, oldest first. */
  ids(): string[] {
    return this.service.control.instances().map(({ id }) => id);
  }

  /** How many instances the service was asked to make. */
  posts(): number {
    return this.service.counts()["POST /v2/instances"] ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      // An instance's name is no secret to its service.
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
