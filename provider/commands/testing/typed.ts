/** Runs a command in this process as `run.ts` does, and keeps what it prints. */
import { Cleaner } from "../../text";
import { type Command, parse } from "../command";

export interface Typed {
  code: number;
  lines: string[];
  /** On stderr. */
  warnings: string[];
}

export async function typed(
  command: Command,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Typed> {
  const cleaner = new Cleaner();
  const lines: string[] = [];
  const warnings: string[] = [];
  const code = await command.run(parse(command, args), {
    print: (line, painted = "") => void lines.push(painted + cleaner.clean(line)),
    warn: (line) => void warnings.push(cleaner.clean(line)),
    paint: (_, text) => text,
    cleaner,
    env,
  });
  return { code, lines, warnings };
}
