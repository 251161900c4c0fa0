/** Runs a command line in this process as `runByHand` does, and keeps what it prints. */
import { Redactor } from "../../redaction";
import { run } from "../run";

export interface Typed {
  code: number;
  lines: string[];
  /** On stderr. */
  warnings: string[];
}

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
