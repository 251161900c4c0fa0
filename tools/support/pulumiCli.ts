/** Finds the Pulumi CLI: an installed one, the official one, or one built from Go modules. */
import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { oldestEngine } from "../../provider/process/executable";
import { isOlder } from "../../provider/version";
import { onPath } from "./onPath";
import { exe } from "./paths";

export interface PulumiCli {
  path: string;
  version: string;
  /** Built here. Then only hosts that were built here are beside it. */
  isBuiltHere: boolean;
}

export interface PulumiSupply {
  isBuilt: () => boolean;
  build: () => Promise<PulumiCli>;
  /** Returns the path of the official CLI. Undefined if it can't be downloaded. */
  download: () => Promise<string | undefined>;
}

/**
 * Returns the first usable CLI: the one on PATH; the newest that Pulumi's installers left in the home folder; one
 * built here earlier; the official one; one built now. `say` gets the reason why one is not used.
 */
export async function ensurePulumi(
  supply: PulumiSupply,
  say: (line: string) => void,
  home: string = homedir(),
): Promise<PulumiCli> {
  const fromPath = onPath("pulumi");
  const places = [
    () => [fromPath],
    () => inHome(home).filter((path) => path !== fromPath),
    async () => (supply.isBuilt() ? [] : [await supply.download()]),
  ];
  for (const pathsIn of places) {
    const found = await newestUsable(await pathsIn(), say);
    if (found !== undefined) return found;
  }
  return supply.build();
}

/** Returns the CLIs of `curl -fsSL https://get.pulumi.com | sh` and of the Automation API. */
function inHome(home: string): string[] {
  const name = `pulumi${exe}`;
  const folder = join(home, ".pulumi");
  return [
    join(folder, "bin", name),
    ...globSync(`versions/*/bin/${name}`, { cwd: folder }).map((path) => join(folder, path)),
  ].filter((path) => existsSync(path));
}

/** Returns the newest that runs and is not too old. Undefined if there is none. */
async function newestUsable(
  paths: readonly (string | undefined)[],
  say: (line: string) => void,
): Promise<PulumiCli | undefined> {
  const there = paths.filter((path) => path !== undefined);
  const versions = await Promise.all(there.map(versionOf));
  const usable: PulumiCli[] = [];
  for (const [index, path] of there.entries()) {
    const version = versions[index];
    if (version === undefined)
      say(`${path} does not answer \`pulumi version\`, so it is not used.`);
    else if (isOlder(version, oldestEngine))
      say(`${path} is ${version}, older than ${oldestEngine}, so it is not used.`);
    else usable.push({ path, version, isBuiltHere: false });
  }
  return usable.sort((a, b) => (isOlder(a.version, b.version) ? 1 : -1))[0];
}

/** Undefined if it prints no version. */
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
