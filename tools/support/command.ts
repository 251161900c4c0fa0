/** Running other commands. */
import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { basename } from "node:path";
import { promisify } from "node:util";
import { isMissing } from "./errors";
import { ToolError } from "./main";

export interface CommandOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Gets each line that the command prints. */
  onLine: (line: string) => void;
}

/** Runs a command whose output is read, and which does not outlive us when we are told to stop. */
export async function runCommand(
  command: string,
  arguments_: readonly string[],
  { cwd, env, onLine }: CommandOptions,
): Promise<{ code: number | null }> {
  const child = spawn(command, arguments_, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on("line", onLine);

  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal);
    process.removeListener(signal, stop);
    process.kill(process.pid, signal);
  };
  const signals = ["SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, stop);

  const { promise, resolve, reject } = Promise.withResolvers<{ code: number | null }>();
  child.on("error", reject);
  child.on("close", (code) => resolve({ code }));
  return promise.finally(() => {
    for (const signal of signals) process.removeListener(signal, stop);
  });
}

/** What a command prints on stdout. Where it fails, what it said is the error. */
export async function captured(
  command: string,
  arguments_: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, arguments_, {
      maxBuffer: Infinity,
      ...options,
    });
    return stdout;
  } catch (error) {
    const line = [command, ...arguments_].join(" ");
    if (isMissing(error) && basename(command) === command) {
      throw new ToolError(`There is no ${command} on PATH: \`${line}\``);
    }
    const { stdout, stderr, message } = error as Error & { stdout?: string; stderr?: string };
    const said = `${stdout ?? ""}${stderr ?? ""}`.trim() || message;
    throw new ToolError(`\`${line}\` failed.\n${said}`);
  }
}
