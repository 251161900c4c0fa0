/** The emulator as the benchmarks use it: a process of its own. */
import { EmulatorProcess } from "../tools/support/emulatorProcess";

export const token = "sk_test_bench";

/** So high that no measurement contains a wait for the rate limit. */
export const noLimit = 10_000_000;

/** The emulator's cursor parameter. Without one, a listing would show 100 instances at most. */
export const cursorParameter = "starting_after";

export async function startService({
  provisioningSeconds = "0",
  requestsPerMinute = noLimit,
}): Promise<EmulatorProcess> {
  return EmulatorProcess.start({
    "provisioning-seconds": provisioningSeconds,
    "requests-per-minute": requestsPerMinute,
    "cursor-parameter": cursorParameter,
  });
}

/** List requests, and all requests, since `forgetRequests`. */
export async function requestCounts({
  control,
}: EmulatorProcess): Promise<{ listings: number; all: number }> {
  const counts = await control.counts();
  return {
    listings: counts["GET /v2/instances"] ?? 0,
    all: Object.values(counts).reduce((sum, count) => sum + count, 0),
  };
}
