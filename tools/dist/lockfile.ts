/** What package-lock.json says of a package. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/paths";

export interface LockedPackage {
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
