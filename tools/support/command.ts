import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { isMissing } from "./files";
import { ToolError } from "./main";

/**
 * Runs a command, and resolves with its exit code. `onLine` gets each line of its output. A signal that stops this
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
    process.off(signal, stop);
    process.kill(process.pid, signal);
  };
  process.on("SIGTERM", stop).on("SIGHUP", stop);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return code;
  } finally {
    process.off("SIGTERM", stop).off("SIGHUP", stop);
  }
}

/** Resolves with the stdout of a command. @throws {ToolError} with its whole output if it fails */
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
    const commandLine = [command, ...arguments_].join(" ");
    if (isMissing(error) && basename(command) === command) {
      throw new ToolError(`There is no ${command} on PATH, so \`${commandLine}\` can't run.`);
    }
    const { stdout, stderr, message } = error as Error & { stdout?: string; stderr?: string };
    const output = `${stdout ?? ""}${stderr ?? ""}`.trim() || message;
    throw new ToolError(`\`${commandLine}\` failed.\n${output}`);
  }
}

/** Returns the first line of a process, which has its port or URL. @throws if there is none */
export async function firstLine(output: Readable): Promise<string> {
  const lines = createInterface(output);
  const [line] = (await Promise.race([once(lines, "line"), once(lines, "close")])) as [string?];
  if (line === undefined) throw new Error("the process ended without a line of output");
  return line;
}
