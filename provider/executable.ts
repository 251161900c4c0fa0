/**
 * Tells about the plugin as a program: its name, the files beside it, versions, and whether an engine has started it.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getAsset, isSea } from "node:sea";
import metadata from "../metadata.json";

/** The file name under which Pulumi looks for the plugin. */
export const executable = `pulumi-resource-${metadata.name}`;

/** The first line of the help, and of the greeting for a person who starts the plugin without a command. */
export const pluginDescription = `The ${metadata.name} plugin for Pulumi, ${metadata.version}. Pulumi starts it by itself.`;

/**
 * Returns what a person types to run the plugin: the path of the executable beside this bundle, since the
 * plugin need not be on PATH, or only the executable's name if this bundle has no executable beside it.
 */
export function executablePath(): string {
  const pathBeside = join(__dirname, executable);
  return existsSync(pathBeside) ? pathBeside : executable;
}

/**
 * Reads the package's schema. The schema is inside the single executable, beside the bundle, or at the root of
 * a checkout.
 */
export async function readSchema(): Promise<string> {
  if (isSea()) return getAsset("schema.json", "utf8");
  try {
    return await readFile(join(__dirname, "schema.json"), "utf8");
  } catch {
    return readFile(join(__dirname, "..", "schema.json"), "utf8");
  }
}

/** The version of the oldest Pulumi engine that works. Older engines refuse the resource option `import:`. */
export const { oldestEngine } = metadata;

/** The flags that the engine may pass with their value as the next argument. */
const flagsWithValue: ReadonlySet<string> = new Set(["--tracing", "-tracing", "--v", "-v"]);

/**
 * Whether the engine has started the plugin. The engine passes its own address, an argument that is no flag. A
 * person who starts the plugin, and attaches an engine later, passes no address.
 */
export function isStartedByEngine(argv: readonly string[]): boolean {
  return argv.some(
    (argument, index) => !argument.startsWith("-") && !flagsWithValue.has(argv[index - 1] ?? ""),
  );
}

/**
 * Whether the arguments are a command that a person typed, or a flag such as `--help`. The engine's first
 * argument is a flag of its own, or its address, which ends in a port.
 */
export function isCommand([first = ""]: readonly string[]): boolean {
  if (first.startsWith("-")) return ["-h", "--help", "--version"].includes(first);
  return first !== "" && !/:\d+$/.test(first);
}
