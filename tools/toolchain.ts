/**
 * `npm run toolchain`: finds the Pulumi CLI and its language hosts on PATH or in ~/.pulumi. If they are not there, it
 * downloads the official ones, or builds them from Go modules if the download fails. On stdout it prints only the line
 * that sets PATH: `eval "$(npm run -s toolchain)"` sets it in your shell. A second run builds nothing.
 *
 * COMPUTE_PULUMI_MIRROR=https://… downloads from a mirror of https://github.com/pulumi/pulumi/releases/download.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";
import { posixQuote } from "../provider/shellQuote";
import { engineVersions, ensureGoTool, hosts, isGoToolBuilt, type Language } from "./go/tools";
import { writeWhole } from "./support/files";
import { ensureBuilt, filesOf } from "./support/go";
import { runTool, say } from "./support/main";
import { ensureOfficialPulumi } from "./support/officialPulumi";
import { onPath, withPath } from "./support/onPath";
import { exe, root, toolsBin } from "./support/paths";
import { pinnedPulumi } from "./support/pulumiArchive.cjs";
import { ensurePulumi } from "./support/pulumiCli";

export interface ToolchainOptions {
  /** Of the programs that will run. The default is all. */
  languages?: readonly Language[];
  /** Uses a Pulumi CLI of this module, which is built here. */
  built?: keyof typeof engineVersions;
  /** Prints a line. */
  say?: (line: string) => void;
}

export interface Toolchain {
  pulumi: string;
  version: string;
  /** Node, the Pulumi CLI and its language hosts, in the order for PATH. */
  binDirs: readonly string[];
  /** With that PATH, and with `extra`. */
  env(extra?: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
}

export async function ensureToolchain(options: ToolchainOptions = {}): Promise<Toolchain> {
  const { built, say: report = say } = options;
  const { languages = Object.keys(hosts) as Language[] } = options;
  const build = async (module: keyof typeof engineVersions) => ({
    path: await ensureGoTool(module),
    version: engineVersions[module].slice(1),
    isBuiltHere: true,
  });
  const supply = {
    isBuilt: () => isGoToolBuilt("engine"),
    download: () => ensureOfficialPulumi(pinnedPulumi, { say: report }),
    build: () => build("engine"),
  };
  const found = await (built ? build(built) : ensurePulumi(supply, report));
  const { path: pulumi, version, isBuiltHere } = found;
  report(`Pulumi CLI ${version}: ${describe(pulumi)}`);

  for (const language of languages) {
    // A CLI that was built here uses only hosts that were.
    const host = hosts[language];
    if (isBuiltHere || !isInstalled(host.name, pulumi)) await ensureBuilt(host);
    if (built !== "engine-oldest") continue;
    // The Pulumi CLI warns about hosts in other folders.
    for (const file of filesOf(host))
      writeWhole(join(dirname(pulumi), file), readFileSync(join(toolsBin, file)), 0o755);
  }
  // Hosts beside the Pulumi CLI come first. Those built here only replace missing ones.
  const binDirs = [...new Set([dirname(process.execPath), dirname(pulumi), toolsBin])];
  return { pulumi, version, binDirs, env: (extra) => withPath(binDirs, extra) };
}

function isInstalled(name: string, pulumi: string): boolean {
  const candidates = [pulumi, realpathSync(pulumi)].map((path) => join(dirname(path), name + exe));
  return candidates.some((path) => existsSync(path)) || onPath(name) !== undefined;
}

/** For messages: relative if it is in this repository. */
function describe(path: string): string {
  const fromRoot = relative(root, path);
  return fromRoot.startsWith("..") ? path : fromRoot;
}

async function main(): Promise<void> {
  // Without Go, no host can be built that is missing.
  const some = onPath("go") === undefined ? { languages: ["nodejs"] as const } : {};
  const { binDirs } = await ensureToolchain(some);
  console.log(`export PATH=${posixQuote(binDirs.join(delimiter))}${delimiter}"$PATH"`);
}

if (require.main === module) runTool({}, main);
