/** Running other programs. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { isMissing } from "./files";
import { ToolError } from "./main";

/**
 * Runs a command, passes each line of its output to `onLine`, and resolves with its exit code. A signal that stops this
 * process also stops the command.
 */
export async function runCommand(
  command: string,
  arguments_: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; onLine: (line: string) => void },
): Promise<number | null> {
  const { cwd, env, onLine } = options;
  const child = spawn(command, arguments_, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on("line", onLine);

  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal);
    process.removeListener(signal, stop);
    process.kill(process.pid, signal);
  };
  const signals = ["SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, stop);

  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.on("error", reject);
  child.on("close", (code) => resolve(code));
  return promise.finally(() => {
    for (const signal of signals) process.removeListener(signal, stop);
  });
}

/** Resolves with what a command prints on stdout. If it fails, the ToolError holds its whole output. */
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

/** The first line of a process, which says that it is ready, and where. Rejects if the process ends without one. */
export async function firstLine(output: Readable): Promise<string> {
  const lines = createInterface(output);
  const [line] = (await Promise.race([once(lines, "line"), once(lines, "close")])) as [string?];
  if (line === undefined) throw new Error("the process ended without a line of output");
  return line;
}
