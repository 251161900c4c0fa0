/**
 * `npm run toolchain`: the Pulumi CLI and what belongs to it, found on PATH or built from Go modules.
 * Once programs in TypeScript can run it prints the PATH for a shell of your own; the hosts of the other
 * languages and the generators of the SDKs follow. Everything built is stamped with what it was made from:
 * a second run does nothing.
 */
import { execFile } from "node:child_process";
import { existsSync, linkSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, delimiter, dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { isOlder, oldestEngine } from "../provider/executable";
import { engineVersions, ensureGoTool, ensureHost, hosts, type Language } from "./go/tools";
import { readIfThere, writeWhole } from "./support/files";
import type { GoTool } from "./support/go";
import { runTool, say } from "./support/main";
import { onPath, withPath } from "./support/onPath";
import { exe, nodeBin, root, toolsBin, toolsDir } from "./support/paths";

export interface ToolchainOptions {
  /** The languages of the programs to be run; all if left out. */
  languages?: readonly Language[];
  /** The oldest Pulumi CLI that the provider works with, built here, whatever is on PATH. */
  oldest?: boolean;
  /** Gets the one line that says which Pulumi CLI is used. */
  say?: (line: string) => void;
}

export interface Toolchain {
  /** The absolute path of the Pulumi CLI, and its version: "3.258.0". */
  pulumi: string;
  version: string;
  /** Node, the Pulumi CLI and its language hosts, in the order they must have on PATH. */
  binDirs: readonly string[];
  /** The environment of this process with that PATH, and with `extra`. */
  env(extra?: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
}

export async function ensureToolchain(options: ToolchainOptions = {}): Promise<Toolchain> {
  const report = options.say ?? say;
  const languages = options.languages ?? (Object.keys(hosts) as Language[]);

  const module = options.oldest === true ? "engine-oldest" : "engine";
  const found = options.oldest === true ? undefined : await findPulumi(report);
  const pulumi = found?.path ?? (await ensureGoTool(module));
  const version = found?.version ?? engineVersions[module].slice(1);
  report(`Pulumi CLI ${version}: ${describe(pulumi)}`);

  for (const language of languages) {
    // A Pulumi that was built here has the hosts that were built here, and no other.
    const { name, script }: GoTool = hosts[language];
    const isThere = found !== undefined && isInstalled(name, found.path);
    if (!isThere) await ensureHost(language);
    if (options.oldest === true) {
      linkBeside(pulumi, name + exe);
      if (script !== undefined) linkBeside(pulumi, basename(script.path));
    }
  }
  // A host built here is for want of one beside the Pulumi found: it must not stand before that.
  const binDirs = [...new Set([nodeBin, dirname(pulumi), toolsBin])];
  return { pulumi, version, binDirs, env: (extra) => withPath(binDirs, extra) };
}

/** An engine warns of a host that is not beside it, nor leads to one there. */
function linkBeside(pulumi: string, host: string): void {
  const link = join(dirname(pulumi), host);
  const made = `${link}.${process.pid}`;
  linkSync(join(toolsBin, host), made);
  renameSync(made, link);
  // Where the link was as it is to be, renaming has left it.
  rmSync(made, { force: true });
}

interface FoundPulumi {
  path: string;
  version: string;
}

/** The first usable Pulumi CLI on PATH that is not one of ours. */
async function findPulumi(report: (line: string) => void): Promise<FoundPulumi | undefined> {
  const path = onPath("pulumi");
  if (path === undefined) return undefined;
  const version = await versionOf(path);
  if (version === undefined) {
    report(`${path} does not answer \`pulumi version\`, so it is not used.`);
    return undefined;
  }
  if (isOlder(version, oldestEngine)) {
    report(`${path} is ${version}, older than ${oldestEngine}, so it is not used.`);
    return undefined;
  }
  return { path, version };
}

/** Asks the executable, once: starting it takes long enough to be worth remembering. */
async function versionOf(path: string): Promise<string | undefined> {
  const { size, mtimeMs } = statSync(path);
  const memory = join(toolsDir, "stamps", "pulumi-on-path");
  const key = `${path} ${size} ${mtimeMs} `;
  const remembered = readIfThere(memory);
  if (remembered?.startsWith(key)) return remembered.slice(key.length);
  try {
    const { stdout } = await promisify(execFile)(path, ["version"], {
      env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" },
      shell: path.endsWith(".cmd"),
      timeout: 30_000,
    });
    const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0];
    // A version manager's shim is a small file that may start another version tomorrow.
    if (version !== undefined && size > 1_000_000) writeWhole(memory, key + version);
    return version;
  } catch {
    return undefined;
  }
}

function isInstalled(name: string, pulumi: string): boolean {
  const beside = [pulumi, realpathSync(pulumi)].map((path) => join(dirname(path), name + exe));
  return beside.some((path) => existsSync(path)) || onPath(name) !== undefined;
}

function describe(path: string): string {
  const fromRoot = relative(root, path);
  return fromRoot.startsWith("..") ? `${path}, from PATH` : fromRoot;
}

async function main(): Promise<void> {
  const { binDirs } = await ensureToolchain({ languages: ["nodejs"] });
  say(`For a shell of your own: export PATH="${binDirs.join(delimiter)}${delimiter}$PATH"`);
  await ensureToolchain({ say: () => undefined });
  for (const generator of ["sdkgen", "sdkgen-more"] as const) await ensureGoTool(generator);
  say("Ready.");
}

if (require.main === module) runTool({}, main);
