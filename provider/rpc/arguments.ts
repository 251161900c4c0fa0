/** Who has started the plugin, by its arguments: the engine, or a person. */

/** Flags the engine may pass whose value is the argument after them. */
const withValue: ReadonlySet<string> = new Set(["--tracing", "-tracing", "--v", "-v"]);

/** Whether the engine did: it gives its address. Started by hand, to attach to, there is none. */
export function isByEngine(argv: readonly string[]): boolean {
  return argv.some(
    (argument, index) => !argument.startsWith("-") && !withValue.has(argv[index - 1] ?? ""),
  );
}

/**
 * Whether a person asks for something: the name of a command comes first, or a question. The engine
 * begins with a flag of its own, or with its address, which has a port.
 */
export function isByHand([first = ""]: readonly string[]): boolean {
  if (first.startsWith("-")) return ["-h", "--help", "--version"].includes(first);
  return first !== "" && !/:\d+$/.test(first);
}
