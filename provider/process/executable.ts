/** The plugin as a program: its name, its files, how it was started, and which signals end it. */
import { closeSync, constants, existsSync, fstatSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getAsset, isSea } from "node:sea";
import metadata from "../../metadata.json";

/** The file name that Pulumi looks for, on Windows with `.exe`. */
export const executable = `pulumi-resource-${metadata.name}`;

/** The description in the help. */
export const pluginDescription = `The ${metadata.name} plugin for Pulumi, ${metadata.version}. Pulumi starts it by itself.`;

/** The folder of this bundle or of the single executable. */
export const bundleFolder = __dirname;

/** Returns the path of the single executable, or of the one beside this bundle, or else its name. */
export function executablePath(): string {
  const path = isSea() ? process.execPath : join(bundleFolder, executable);
  return existsSync(path) ? path : executable;
}

/**
 * The signals that end the process. SIGHUP comes when the terminal is closed in which a person has started the plugin. SIGBREAK
 * is the engine's on Windows, and nowhere else a signal.
 */
export const endSignals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"] as const;

/** Whether stdin comes from another process. Only then, the end of stdin can mean that the other process has ended. */
export function isStdinPiped(): boolean {
  try {
    return isPiped(fstatSync(0).mode);
  } catch {
    return false;
  }
}

/** Whether a file of this mode is a pipe or a socket. On Windows, the methods of `Stats` that say so are always false. */
export function isPiped(mode: number): boolean {
  return [0o010000, 0o140000].includes(mode & constants.S_IFMT);
}

/** Whether a person is at a terminal. Pulumi connects stdin and stdout to itself, so these do not tell. */
export function hasTerminal(): boolean {
  try {
    closeSync(openSync(process.platform === "win32" ? "\\\\.\\CONIN$" : "/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether the engine shows its progress at a terminal. Where the variable CI is set, and for a program (the Automation API), it
 * prints a log instead. This process can't see that a pipe (`pulumi up | tee`) or a flag such as `--diff` asks for a log.
 */
export function isEngineAtTerminal(): boolean {
  const { CI, PULUMI_AUTOMATION_API } = process.env;
  return !CI && !PULUMI_AUTOMATION_API && hasTerminal();
}

/** Reads the package's schema from the single executable, from beside the bundle, or from the root of a checkout. */
export async function readSchema(): Promise<string> {
  if (isSea()) return getAsset("schema.json", "utf8");
  try {
    return await readFile(join(__dirname, "schema.json"), "utf8");
  } catch {
    return readFile(join(__dirname, "..", "schema.json"), "utf8");
  }
}

/** The oldest Pulumi engine that works. Older ones refuse the resource option `import:`. */
export const { oldestEngine } = metadata;

/** Whether the engine started the plugin: only it passes its address. The arguments must be no command (`isCommand`). */
export function isStartedByEngine(argv: readonly string[]): boolean {
  // The value of `--tracing` is another address.
  return argv.some((word, index) => isAddress(word) && argv[index - 1] !== "--tracing");
}

/**
 * Whether a person typed the arguments: a command, or a flag such as `--help`. The engine's first argument is a flag of
 * its own, or its address.
 */
export function isCommand([first = ""]: readonly string[]): boolean {
  if (first.startsWith("-")) return ["-h", "--help", "--version"].includes(first);
  return first !== "" && !isAddress(first);
}

/** Whether the word is no flag, and ends in a port. */
function isAddress(word: string): boolean {
  return !word.startsWith("-") && /:\d+$/.test(word);
}
