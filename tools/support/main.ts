/** What all tools share: command line, help, errors, messages. */
import { readFileSync } from "node:fs";
import { parseArgs, type ParseArgsConfig } from "node:util";

/** An error whose message tells the person at the terminal what failed and what to do. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** Runs a tool's `main` with the parsed command line. `{}` accepts no arguments. */
export function runTool<Takes extends ParseArgsConfig>(
  takes: Takes,
  main: (given: ReturnType<typeof parseArgs<Takes>>) => Promise<void>,
): void {
  runWithArguments(async () => main(parsed(takes)));
}

/** The same for a tool that passes its arguments on. Any error but a `ToolError` is a defect, shown with its stack. */
export function runWithArguments(main: (args: string[]) => Promise<void>): void {
  const [script = "", ...args] = process.argv.slice(1);
  if (args.some((arg) => arg === "--help" || arg === "-h")) {
    console.log(helpIn(script));
    return;
  }
  main(args).catch((error: unknown) => {
    console.error(error instanceof ToolError ? error.message : error);
    process.exitCode = 1;
  });
}

/** The one of these names that is given. @throws {ToolError} if it is none of them */
export function oneOf<Name extends string>(
  what: string,
  names: readonly Name[],
  given: string,
): Name {
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  throw new ToolError(`There is no ${what} "${given}". There are: ${names.join(", ")}`);
}

/** Prints a message on stderr, so that the tool's own output can be piped. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function parsed<Takes extends ParseArgsConfig>(takes: Takes) {
  try {
    return parseArgs(takes);
  } catch (error) {
    throw new ToolError(`${(error as Error).message} (see --help)`);
  }
}

/** The first comment of a tool's file. */
function helpIn(script: string): string {
  const [, comment = ""] = /^\/\*\*\n?([^]*?)\s*\*\//.exec(readFileSync(script, "utf8")) ?? [];
  return comment.replace(/^ (\* ?)?/gm, "");
}
