/** The service: the emulator as a process of its own, asked over its control API. */
import { EmulatorProcess } from "../tools/support/emulatorProcess";

export type Service = EmulatorProcess;

export const token = "sk_test_bench";

/** So high that what is measured is never the wait for the limit. */
export const noLimit = 10_000_000;

/** The cursor parameter that the service takes; without one it would show 100 instances. */
export const cursorParameter = "starting_after";

export async function startService(options: {
  provisioningSeconds: string;
  requestsPerMinute?: number;
}): Promise<Service> {
  return EmulatorProcess.start({
    "provisioning-seconds": options.provisioningSeconds,
    "requests-per-minute": options.requestsPerMinute ?? noLimit,
    "cursor-parameter": cursorParameter,
  });
}

/** List requests, and all requests, since `forgetRequests`. */
export async function countsOf({ control }: Service): Promise<{ listings: number; all: number }> {
  const counts = await control.counts();
  return {
    listings: counts["GET /v2/instances"] ?? 0,
    all: Object.values(counts).reduce((sum, count) => sum + count, 0),
  };
}
