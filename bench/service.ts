/** The emulator as a process of its own, with its control API. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ControlClient } from "../emulator/control/client";
import { firstLine } from "../tools/support/command";
import { root } from "../tools/support/paths";

export const token = "sk_test_bench";

/** So high that no measurement contains a wait for the rate limit. */
export const noLimit = 10_000_000;

/** The emulator's cursor parameter. Without one, a listing would show 100 instances at most. */
export const cursorParameter = "starting_after";

export type EmulatorProcess = Awaited<ReturnType<typeof startService>>;

/** Starts it on any free port. `flags` as on its command line (`npm run emulator -- --help`). */
export async function startService(flags: Readonly<Record<string, string | number>> = {}) {
  const defaults = {
    "provisioning-seconds": 0,
    "requests-per-minute": noLimit,
    "cursor-parameter": cursorParameter,
  };
  const args = Object.entries({ ...defaults, ...flags }).map(
    ([name, value]) => `--${name}=${value}`,
  );
  const script = join(root, "tools", "emulator.ts");
  const child = spawn(
    process.execPath,
    ["--import", "tsx", script, "--control", "--port=0", ...args],
    { cwd: root, stdio: ["ignore", "pipe", "inherit"] },
  );
  const url = /http:\S+/.exec(await firstLine(child.stdout))?.[0] ?? "";
  return {
    url,
    control: new ControlClient(url),
    async [Symbol.asyncDispose](): Promise<void> {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
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
