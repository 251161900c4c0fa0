/** Runs a command line in the process of a test, as `runByHand` does but without signal handling, and keeps the output. */
import { Redactor } from "../../redaction";
import { run } from "../run";

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
  const redactor = new Redactor();
  const lines: string[] = [];
  const warnings: string[] = [];
  const code = await run(args, {
    print: (line) => void lines.push(redactor.redact(line)),
    warn: (line) => void warnings.push(redactor.redact(line)),
    redactor,
    env,
    exitCode: 0,
  });
  return { code, lines, warnings };
}
