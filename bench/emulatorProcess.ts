/** The emulator as its own process, with its control API. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { InstanceRecord, LoggedRequest } from "../emulator";
import { firstLine } from "../tools/support/command";
import { root } from "../tools/support/paths";

export const token = "sk_test_bench";

/** Requests per minute: no measurement contains a wait. */
export const noLimit = 10_000_000;

/** Without it, a listing would show at most 100 instances. */
export const cursorParameter = "starting_after";

/** What every instance has, other than its name. */
export const instanceInputs = { flavorId: "standard-2", imageId: "debian-12", vpcId: "vpc-main" };

export type EmulatorProcess = Awaited<ReturnType<typeof startService>>;

/** `flags` are options of `npm run emulator`. */
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
  const child = spawn(process.execPath, ["--import", "tsx", script, "--port=0", ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = /http:\S+/.exec(await firstLine(child.stdout))?.[0] ?? "";
  return {
    url,
    control: {
      instances: () => control<InstanceRecord[]>(url, "GET", "instances"),
      requests: () => control<LoggedRequest[]>(url, "GET", "requests"),
      forgetRequests: () => control(url, "DELETE", "requests"),
    },
    async [Symbol.asyncDispose](): Promise<void> {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function control<T>(url: string, method: string, path: string): Promise<T> {
  const response = await fetch(new URL(`/control/${path}`, url), { method });
  if (!response.ok)
    throw new Error(`the emulator answered ${method} ${path} with ${response.status}`);
  return (await response.json()) as T;
}

/** Counts the requests since `forgetRequests`. */
export async function requestCounts({
  control,
}: EmulatorProcess): Promise<{ listings: number; all: number }> {
  const requests = await control.requests();
  const listings = requests.filter(
    ({ method, path }) => `${method} ${path}` === "GET /v2/instances",
  );
  return { listings: listings.length, all: requests.length };
}
