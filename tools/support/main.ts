/** An error whose message is meant for the person at the terminal: what is wrong, what to do. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** Runs a tool's `main`; any error but a `ToolError` is a defect of ours and shows where it is. */
export function runTool(main: (args: string[]) => Promise<void>): void {
  main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error instanceof ToolError ? error.message : error);
    process.exitCode = 1;
  });
}

/** Messages go to stderr, so that a tool's own output can be piped. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
