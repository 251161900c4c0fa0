/** What the tests of `settle` share: another machine with the same backend, and the command as a person types it. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
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

/** The file of the stack's state. */
export const stateFile = ({ folder }: Stack) =>
  join(folder, "state", ".pulumi", "stacks", "proj", "dev.json");

interface Latest {
  resources: object[];
  pending_operations: object[];
}

/** Changes the stack's state, as another run would. */
export function editState(stack: Stack, edit: (latest: Latest) => void): void {
  const state = JSON.parse(readFileSync(stateFile(stack), "utf8")) as {
    checkpoint: { latest: Latest };
  };
  edit(state.checkpoint.latest);
  writeFileSync(stateFile(stack), JSON.stringify(state));
}

/** Runs `settle` at a terminal, and gives its questions these answers, and all others the answer `n`. */
export function answering(stack: Stack, ...answers: (string | (() => string))[]): Promise<string> {
  return atTerminal(stack, `'${plugin}' settle`, () => {
    const answer = answers.shift() ?? "n";
    return typeof answer === "string" ? answer : answer();
  });
}

/** Runs a command at a terminal, and answers each of its questions. Returns what was printed, with the exit code. */
export async function atTerminal(
  { project: cwd, env }: Stack,
  command: string,
  answer: (question: string) => string,
): Promise<string> {
  const line = `${command}; echo "exit code $?"`;
  const child = spawn("script", ["-qfc", line, "/dev/null"], { cwd, env });
  let output = "";
  let asked = 0;
  for await (const text of child.stdout.setEncoding("utf8")) {
    output += String(text);
    const questions = output.match(/.*\[y\/N\]/g) ?? [];
    for (; asked < questions.length; asked++)
      child.stdin.write(`${answer(questions[asked] ?? "")}\n`);
  }
  return output;
}
