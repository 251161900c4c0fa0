/** The Node of each platform, from the npm package that package-lock.json pins. */
import { hash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { captured } from "../support/command";
import { unpack } from "../support/files";
import { ToolError } from "../support/main";
import { root, toolsDir } from "../support/paths";
import { platforms, type Platform } from "./platforms";

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
  const scratch = join(toolsDir, "scratch", `${process.pid}-${package_}`);
  mkdirSync(scratch, { recursive: true });
  try {
    const npm = ["pack", "--silent", `--pack-destination=${scratch}`, package_];
    const file = join(scratch, (await captured("npm", npm, { cwd: scratch })).trim());
    const [algorithm = ""] = integrity.split("-");
    const digest = hash(algorithm, readFileSync(file), "base64");
    if (`${algorithm}-${digest}` !== integrity) {
      throw new ToolError(
        `${package_} from the registry is ${algorithm}-${digest}, but package-lock.json says ` +
          `${integrity}. Use another registry, since this one serves another file under that name.`,
      );
    }
    await unpack(file, target);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
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
