/** The plugin as a program: its name and version, what lies beside it, and who has started it. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getAsset, isSea } from "node:sea";
import metadata from "../metadata.json";

/** The name that Pulumi looks for. */
export const executable = `pulumi-resource-${metadata.name}`;

/** For the help, and for a person who starts the plugin without a command. */
export const pluginDescription = `The ${metadata.name} plugin for Pulumi, ${metadata.version}. Pulumi starts it by itself.`;

/** What a person types to run the plugin. It lies beside the bundle that runs; PATH need not have it. */
export function executablePath(): string {
  const beside = join(__dirname, executable);
  return existsSync(beside) ? beside : executable;
}

/** The package's schema: in the single executable, beside the bundle, or at the root of a checkout. */
export async function readSchema(): Promise<string> {
  if (isSea()) return getAsset("schema.json", "utf8");
  try {
    return await readFile(join(__dirname, "schema.json"), "utf8");
  } catch {
    return readFile(join(__dirname, "..", "schema.json"), "utf8");
  }
}

/** The oldest Pulumi engine that works: older ones refuse the resource option `import:`. */
export const { oldestEngine } = metadata;

/**
 * Whether one version is older than the other, by their numbers: a suffix such as `-beta.1` does not count.
 * False where either is no version.
 */
export function isOlder(version: string, than: string): boolean {
  const [ours, theirs] = [versionNumbers(version), versionNumbers(than)];
  if (!ours || !theirs) return false;
  const different = ours.findIndex((number, i) => number !== theirs[i]);
  return different >= 0 && (ours[different] ?? 0) < (theirs[different] ?? 0);
}

function versionNumbers(version: string): number[] | undefined {
  const found = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(version);
  return found?.slice(1).map((number) => Number(number ?? 0));
}

/** Flags that the engine may pass, and whose value is the argument after them. */
const flagsWithValue: ReadonlySet<string> = new Set(["--tracing", "-tracing", "--v", "-v"]);

/**
 * Whether the engine has started the plugin. The engine passes its own address; a person who starts the
 * plugin to attach an engine to it passes none.
 */
export function isStartedByEngine(argv: readonly string[]): boolean {
  return argv.some(
    (argument, index) => !argument.startsWith("-") && !flagsWithValue.has(argv[index - 1] ?? ""),
  );
}

/**
 * Whether the arguments are a command that a person typed, or a question such as `--help`. The engine
 * begins with a flag of its own, or with its address, which ends in a port.
 */
export function isCommand([first = ""]: readonly string[]): boolean {
  if (first.startsWith("-")) return ["-h", "--help", "--version"].includes(first);
  return first !== "" && !/:\d+$/.test(first);
}
