/** Flags the engine may pass (PROTOCOL.md section 1) whose value is the argument after them. */
const withValue: ReadonlySet<string> = new Set(["--tracing", "-tracing", "--v", "-v"]);

/** The engine's address: the last argument that is no flag. None when started by hand, to attach. */
export function engineAddress(argv: readonly string[]): string | undefined {
  const positional = argv.filter(
    (argument, index) => !argument.startsWith("-") && !withValue.has(argv[index - 1] ?? ""),
  );
  return positional.at(-1);
}
