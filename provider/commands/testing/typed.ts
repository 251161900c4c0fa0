/** Runs a command line in this process as `runByHand` does, and keeps what it prints. */
import { Cleaner } from "../../text";
import { run } from "../run";

export interface Typed {
  code: number;
  lines: string[];
  /** On stderr. */
  warnings: string[];
}

export async function typed(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Typed> {
  const cleaner = new Cleaner();
  const lines: string[] = [];
  const warnings: string[] = [];
  const code = await run(args, {
    print: (line, painted = "") => void lines.push(painted + cleaner.clean(line)),
    warn: (line) => void warnings.push(cleaner.clean(line)),
    paint: (_, text) => text,
    cleaner,
    env,
    exitCode: 0,
  });
  return { code, lines, warnings };
}
