/** Runs a command line in the process of a test, as `runByHand` does but without signal handling, and keeps the output. */
import { run } from "../commandLine";
import { createTerminal } from "../terminal";

/** The result of a command line. */
export interface Typed {
  /** The exit code. */
  code: number;
  /** The redacted lines that went to stdout. */
  lines: string[];
  /** The redacted lines that went to stderr. */
  warnings: string[];
}

/** Runs a command line with this environment. */
export async function typed(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Typed> {
  const lines: string[] = [];
  const warnings: string[] = [];
  const io = createTerminal(
    env,
    (line) => lines.push(line),
    (line) => warnings.push(line),
  );
  return { code: await run(args, io), lines, warnings };
}
