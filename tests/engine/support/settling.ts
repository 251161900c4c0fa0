/** What the tests of `settle` share: another machine with the same backend, and the command as a person types it. */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { FixtureOptions } from "./fixture";
import { plugin, tokens, type Stack } from "./stack";

/** With `requestTimeoutSeconds`, a proof that there is no instance takes two seconds. */
export const live: FixtureOptions = {
  token: tokens.live,
  config: { requestTimeoutSeconds: "1" },
};

/** From now on, the stack is used on a machine that has nothing but the backend. The killed run's lock is removed. */
export async function onNewMachine(stack: Stack): Promise<void> {
  stack.setEnv("PULUMI_HOME", mkdtempSync(join(stack.folder, "home-")));
  await stack.succeed("stack", "select", "dev");
  await stack.succeed("cancel", "--yes");
}

/** Runs `settle` with these options, and returns its exit code and what it printed. */
export async function settle(
  stack: Stack,
  ...options: readonly string[]
): Promise<{ code: number; output: string }> {
  const words = ["settle", ...options].map((word) => `'${word}'`);
  const output = await stack.type(
    `'${plugin}' ${words.join(" ")} < /dev/null 2>&1; echo "exit code $?"`,
  );
  const [, code] = /exit code (\d+)\s*$/.exec(output) ?? [];
  return { code: Number(code), output };
}

/** The resources of a test's stack by name, with what the engine's marks say. */
export async function marksOf(stack: Stack): Promise<string[]> {
  const all = (await stack.instances()) as unknown as Record<string, unknown>[];
  return all.map(({ id, delete: isDeleted, pendingReplacement }) =>
    [id, isDeleted && "delete", pendingReplacement && "pendingReplacement"]
      .filter(Boolean)
      .join(" "),
  );
}
