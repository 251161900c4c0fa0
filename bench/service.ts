/** The service: the emulator as a process of its own, asked over its control API. */
import { EmulatorProcess } from "../tools/support/emulatorProcess";

export const token = "sk_test_bench";

/** So high that what is measured is never the wait for the limit. */
export const noLimit = 10_000_000;

export interface ServiceOptions {
  provisioningSeconds: string;
  requestsPerMinute?: number;
}

/** The cursor parameter that the service takes; without one it would show 100 instances. */
export const cursorParameter = "starting_after";

export class Service implements AsyncDisposable {
  private constructor(private readonly emulator: EmulatorProcess) {}

  static async start(options: ServiceOptions): Promise<Service> {
    const { provisioningSeconds, requestsPerMinute = noLimit } = options;
    return new Service(
      await EmulatorProcess.start({
        "provisioning-seconds": provisioningSeconds,
        "requests-per-minute": requestsPerMinute,
        "cursor-parameter": cursorParameter,
      }),
    );
  }

  get url() {
    return this.emulator.url;
  }
  get control() {
    return this.emulator.control;
  }

  /** List requests, and all requests, since `forgetRequests`. */
  async counts(): Promise<{ listings: number; all: number }> {
    const counts = await this.control.counts();
    return {
      listings: counts["GET /v2/instances"] ?? 0,
      all: Object.values(counts).reduce((sum, count) => sum + count, 0),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.emulator[Symbol.asyncDispose]();
  }
}
