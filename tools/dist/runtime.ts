/** The Node of a platform, from the npm package that package-lock.json pins. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { extract } from "tar";
import { captured } from "../support/command";
import { ToolError } from "../support/main";
import { root, toolsDir } from "../support/paths";
import { platforms, type Platform } from "./platforms";

/** The folder of the package, from the root: as npm has installed it, or else fetched from the registry. */
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

/** The path of the Node executable in a folder of `ensureRuntime`. */
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
    const found = createHash(algorithm).update(readFileSync(file)).digest("base64");
    if (`${algorithm}-${found}` !== integrity) {
      throw new ToolError(
        `${package_} from the registry is ${algorithm}-${found}, but package-lock.json says ` +
          `${integrity}. Use another registry: this one serves another file under that name.`,
      );
    }
    await extract({ file, cwd: scratch });
    mkdirSync(join(target, ".."), { recursive: true });
    renameSync(join(scratch, "package"), target);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** What package-lock.json says about a package. */
interface LockedPackage {
  version: string;
  /** "sha512-…", of the package's tarball. */
  integrity: string;
  license?: string;
}

/** By the path in node_modules: "node_modules/undici". */
export function lockedPackage(path: string): LockedPackage {
  const text = readFileSync(join(root, "package-lock.json"), "utf8");
  const { packages } = JSON.parse(text) as { packages: Record<string, LockedPackage> };
  const found = packages[path];
  if (found === undefined) throw new Error(`package-lock.json lacks ${path}`);
  return found;
}
