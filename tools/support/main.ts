/** How all tools parse their command line, print their help, and report errors. */
import { readFileSync } from "node:fs";
import { parseArgs, type ParseArgsConfig } from "node:util";

/** Its message tells a person what failed and what to do. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** Runs a tool's `main` with the parsed command line. The config `{}` accepts no arguments. */
export function runTool<Config extends ParseArgsConfig>(
  config: Config,
  main: (args: ReturnType<typeof parseArgs<Config>>) => Promise<void>,
): void {
  runWithArguments(async () => main(parseCommandLine(config)));
}

/**
 * For a tool that parses its arguments itself. An error other than a `ToolError` is a defect, and printed with its
 * stack.
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

/** Returns `given` if it is one of these names. @throws {ToolError} that lists the names */
export function oneOf<Name extends string>(
  what: string,
  names: readonly Name[],
  given: string,
): Name {
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  const problem = given === "" ? `Which ${what}?` : `There is no ${what} "${given}".`;
  throw new ToolError(`${problem} Choose one of these: ${names.join(", ")}`);
}

/** On stderr, so that the tool's own output can be piped. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function parseCommandLine<Config extends ParseArgsConfig>(config: Config) {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new ToolError(`${(error as Error).message} (see --help)`);
  }
}

/** Returns the first comment of a tool's file, which is the tool's help. */
function helpIn(script: string): string {
  const [, comment = ""] = /^\/\*\*\n?([^]*?)\s*\*\//.exec(readFileSync(script, "utf8")) ?? [];
  return comment.replace(/^ (\* ?)?/gm, "");
}
