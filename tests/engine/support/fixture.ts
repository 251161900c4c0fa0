/** The fixture of nearly every engine test: an emulator, and a stack that uses it. */
import { startEmulator, type Emulator, type EmulatorOptions } from "../../../emulator";
import { oneInstance } from "./programs";
import type { End, Running } from "./running";
import { refuseSecrets } from "./secrets";
import { Stack, type StackOptions } from "./stack";

/** The options of the stack and of the emulator. The default program has the instance `web`. */
export interface FixtureOptions extends Partial<StackOptions> {
  service?: EmulatorOptions;
}

/** For `service`: an instance stays PROVISIONING until `control.finishProvisioning()`. */
export const never = { provisioningSeconds: Infinity };

/** The calls of the service, for faults. */
export const creates = { method: "POST", path: "/v2/instances" } as const;
export const lists = { method: "GET", path: "/v2/instances" } as const;
export const destroys = { method: "DELETE", path: "/v2/instances/*" } as const;

/** The destroy call, for the configuration and for the service, which documents none. */
export const destroyPath = "/v2/instances/{id}";

/** A fault: the service creates the instance, but does not answer the POST until the fault is released. */
export const hangs = { ...creates, kind: "hang", acted: true } as const;

/** An emulator and a stack, which are both closed at the end of the test. */
export class Fixture implements AsyncDisposable {
  private constructor(
    readonly service: Emulator,
    readonly stack: Stack,
    readonly serviceLog: readonly string[],
  ) {}

  /** By default, instances are ready at once and listings follow each other quickly. */
  static async create({ service, config, ...options }: FixtureOptions = {}): Promise<Fixture> {
    const serviceLog: string[] = [];
    const log = (line: string) => void serviceLog.push(line);
    const emulator = await startEmulator({
      provisioningSeconds: 0,
      log,
      errorLog: log,
      ...service,
    });
    try {
      const stack = await Stack.create({
        program: oneInstance(),
        baseUrl: emulator.url,
        config: { pollIntervalSeconds: "0.2", settlingSeconds: "1", ...config },
        ...options,
      });
      return new Fixture(emulator, stack, serviceLog);
    } catch (error) {
      await emulator.close();
      throw error;
    }
  }

  get control(): Emulator["control"] {
    return this.service.control;
  }

  /** Returns a stack of another project, with the same service, Pulumi home and backend, and an instance `web`. */
  otherProject(options: Partial<StackOptions> = {}): Promise<Stack> {
    const { home, backend } = this.stack;
    return Stack.create({
      project: "other",
      program: oneInstance(),
      baseUrl: this.service.url,
      env: { PULUMI_HOME: home, PULUMI_BACKEND_URL: backend },
      ...options,
    });
  }

  ids(): string[] {
    return this.control.instances().map(({ id }) => id);
  }

  posts(): number {
    return this.control.counts()["POST /v2/instances"] ?? 0;
  }

  /** Starts `up`, and returns it while it waits for an instance. */
  async upInWait(): Promise<Running> {
    const up = this.stack.start("up");
    await up.printed("PROVISIONING");
    return up;
  }

  /**
   * Starts `up`, and ends it during its first POST, or during the one after `after` POSTs. The service creates the
   * instance, and answers after `meanwhile`.
   */
  async endUpInPost(how: End, after = 0, meanwhile: () => void = () => undefined): Promise<void> {
    const hanging = this.control.fault({ ...hangs, after });
    const up = this.stack.start("up");
    await up.reached(hanging.firstHit);
    await up.end(how, () => {
      meanwhile();
      hanging.release();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await using stack = new AsyncDisposableStack();
    stack.defer(() => this.service.close());
    stack.use(this.stack);
    // The service may log the names of instances.
    const logged = [...this.serviceLog, JSON.stringify(this.control.requests())];
    refuseSecrets("the emulator's log", logged.join("\n"), ["token", "userData"]);
  }
}
