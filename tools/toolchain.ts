/**
 * `npm run toolchain`: finds the Pulumi CLI and its language hosts on PATH, or builds them from Go modules.
 * As soon as programs in TypeScript can run, the command prints the PATH for a shell of your own. Then it builds the
 * hosts of the other languages and the generators of the SDKs. A second run builds nothing.
 */
import { execFile } from "node:child_process";
import { existsSync, linkSync, realpathSync, renameSync, rmSync } from "node:fs";
import { basename, delimiter, dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { isOlder, oldestEngine } from "../provider/executable";
import { engineVersions, ensureGoTool, ensureHost, hosts, type Language } from "./go/tools";
import type { GoTool } from "./support/go";
import { runTool, say } from "./support/main";
import { onPath, withPath } from "./support/onPath";
import { exe, nodeBin, root, toolsBin } from "./support/paths";

export interface ToolchainOptions {
  /** The languages of the programs that will run; all by default. */
  languages?: readonly Language[];
  /** Uses the oldest Pulumi CLI that the provider supports, which is built here, instead of the CLI on PATH. */
  oldest?: boolean;
  /** Prints the line that says which Pulumi CLI is used. */
  say?: (line: string) => void;
}

export interface Toolchain {
  /** The absolute path of the Pulumi CLI, and its version: "3.258.0". */
  pulumi: string;
  version: string;
  /** The folders of Node, the Pulumi CLI and its language hosts, in the order for PATH. */
  binDirs: readonly string[];
  /** The environment of this process with that PATH, and with `extra`. */
  env(extra?: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
}

/** Finds or builds the Pulumi CLI and the language hosts. */
export async function ensureToolchain(options: ToolchainOptions = {}): Promise<Toolchain> {
  const report = options.say ?? say;
  const languages = options.languages ?? (Object.keys(hosts) as Language[]);

  const module = options.oldest === true ? "engine-oldest" : "engine";
  const found = options.oldest === true ? undefined : await findPulumi(report);
  const pulumi = found?.path ?? (await ensureGoTool(module));
  const version = found?.version ?? engineVersions[module].slice(1);
  report(`Pulumi CLI ${version}: ${describe(pulumi)}`);

  for (const language of languages) {
    // A Pulumi CLI that was built here uses only the hosts that were built here.
    const { name, script }: GoTool = hosts[language];
    if (found === undefined || !isInstalled(name, found.path)) await ensureHost(language);
    if (options.oldest === true) {
      linkBeside(pulumi, name + exe);
      if (script !== undefined) linkBeside(pulumi, basename(script.path));
    }
  }
  // The hosts in the folder of the Pulumi CLI come first. The hosts that were built here only replace missing ones.
  const binDirs = [...new Set([nodeBin, dirname(pulumi), toolsBin])];
  return { pulumi, version, binDirs, env: (extra) => withPath(binDirs, extra) };
}

/** Links a host into the folder of the engine, which warns about hosts in other folders. */
function linkBeside(pulumi: string, host: string): void {
  const link = join(dirname(pulumi), host);
  const temporary = `${link}.${process.pid}`;
  linkSync(join(toolsBin, host), temporary);
  renameSync(temporary, link);
  // A rename to a link of the same file does nothing, so `temporary` may still be there.
  rmSync(temporary, { force: true });
}

interface FoundPulumi {
  path: string;
  version: string;
}

/** Finds the Pulumi CLI on PATH, if the provider supports its version. A CLI that was built here does not count. */
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

/** Returns the version that the executable prints, such as "3.258.0". Undefined if it prints none. */
async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ["version"], {
      env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" },
      shell: path.endsWith(".cmd"),
      timeout: 30_000,
    });
    return /\d+\.\d+\.\d+/.exec(stdout)?.[0];
  } catch {
    return undefined;
  }
}

function isInstalled(name: string, pulumi: string): boolean {
  const candidates = [pulumi, realpathSync(pulumi)].map((path) => join(dirname(path), name + exe));
  return candidates.some((path) => existsSync(path)) || onPath(name) !== undefined;
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
