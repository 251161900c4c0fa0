/** How a tool begins and ends: its command line, its help, its errors, what it says meanwhile. */
import { readFileSync } from "node:fs";
import { parseArgs, type ParseArgsConfig } from "node:util";

/** An error whose message is meant for the person at the terminal: what is wrong, what to do. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** Runs a tool's `main` with what the command line gives of what it takes: nothing, if `{}`. */
export function runTool<Takes extends ParseArgsConfig>(
  takes: Takes,
  main: (given: ReturnType<typeof parseArgs<Takes>>) => Promise<void>,
): void {
  runWithArguments(async () => main(parsed(takes)));
}

/**
 * The same for a tool that passes its arguments on. Any error but a `ToolError` is a defect of ours
 * and shows where it is.
 */
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

/** The one of these names that was asked for. */
export function oneOf<Name extends string>(
  what: string,
  names: readonly Name[],
  given: string,
): Name {
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  throw new ToolError(`There is no ${what} "${given}". There are: ${names.join(", ")}`);
}

/** Messages go to stderr, so that a tool's own output can be piped. */
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

/** What a tool's file says of it in its first lines. */
function helpIn(script: string): string {
  const [, comment = ""] = /^\/\*\*\n?([^]*?)\s*\*\//.exec(readFileSync(script, "utf8")) ?? [];
  return comment.replace(/^ (\* ?)?/gm, "");
}
