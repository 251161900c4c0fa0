/** Finds the Pulumi CLI that the tools run: one that is installed, the official one, or one built from Go modules. */
import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { oldestEngine } from "../../provider/executable";
import { isOlder } from "../../provider/version";
import { onPath } from "./onPath";
import { exe } from "./paths";

export interface PulumiCli {
  /** The absolute path. */
  path: string;
  /** Such as "3.258.0". */
  version: string;
  /** Whether it was built here, from Go modules. Then only language hosts that were built here are beside it. */
  isBuiltHere: boolean;
}

/** How to get a Pulumi CLI, if none is installed. */
export interface PulumiSupply {
  /** Returns whether the CLI has been built already. */
  isBuilt: () => boolean;
  /** Builds the CLI. */
  build: () => Promise<Pick<PulumiCli, "path" | "version">>;
  /** Downloads the official CLI, and returns its path. Undefined if that is not possible. */
  download: () => Promise<string | undefined>;
}

/**
 * Returns the first usable CLI, in this order: the one on PATH; the newest one that Pulumi's installers left in the
 * home folder; one that was built here earlier; the official one; one that is built now. `say` is called with the
 * reason why a CLI is not used.
 */
export async function ensurePulumi(
  supply: PulumiSupply,
  say: (line: string) => void,
  home: string = homedir(),
): Promise<PulumiCli> {
  const fromPath = onPath("pulumi");
  const installed =
    (await newestUsable([fromPath], say)) ??
    (await newestUsable(
      inHome(home).filter((path) => path !== fromPath),
      say,
    ));
  if (installed !== undefined) return installed;
  if (!supply.isBuilt()) {
    const official = await newestUsable([await supply.download()], say);
    if (official !== undefined) return official;
  }
  return { ...(await supply.build()), isBuiltHere: true };
}

/**
 * Returns the paths of the CLIs that `curl -fsSL https://get.pulumi.com | sh` and the Automation API have installed.
 */
function inHome(home: string): string[] {
  const name = `pulumi${exe}`;
  const folder = join(home, ".pulumi");
  return [
    join(folder, "bin", name),
    ...globSync(`versions/*/bin/${name}`, { cwd: folder }).map((path) => join(folder, path)),
  ].filter((path) => existsSync(path));
}

/** Returns the newest of these CLIs that runs and is not too old for the provider. Undefined if there is none. */
async function newestUsable(
  paths: readonly (string | undefined)[],
  say: (line: string) => void,
): Promise<PulumiCli | undefined> {
  const there = paths.filter((path) => path !== undefined);
  const found = await Promise.all(
    there.map(async (path) => ({ path, version: await versionOf(path) })),
  );
  const usable: PulumiCli[] = [];
  for (const { path, version } of found) {
    if (version === undefined) {
      say(`${path} does not answer \`pulumi version\`, so it is not used.`);
    } else if (isOlder(version, oldestEngine)) {
      say(`${path} is ${version}, older than ${oldestEngine}, so it is not used.`);
    } else {
      usable.push({ path, version, isBuiltHere: false });
    }
  }
  return usable.sort((a, b) => (isOlder(a.version, b.version) ? 1 : -1))[0];
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
