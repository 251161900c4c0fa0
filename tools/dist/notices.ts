/** Collects the licence texts of the third-party code in the plugin, for THIRD-PARTY-NOTICES.txt. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/paths";
import { lockedPackage, ensureRuntime } from "./runtime";
import type { Platform } from "./platforms";

const rule = `\n${"=".repeat(80)}\n\n`;

/** Returns the packages of these files, as paths in node_modules. */
export function packagesOf(inputs: readonly string[]): string[] {
  const packages = inputs.flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path) ?? [],
  );
  return [...new Set(packages)].sort();
}

export function packageName(path: string): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

/** Returns the notices for the single executable, which contains Node. */
export async function notices(platform: Platform, inputs: readonly string[]): Promise<string> {
  return [
    "This plugin contains Node.js and the packages below, each under its own licence.\n",
    ...licencesOfPackages(inputs),
    `Node.js\n\n${await nodeLicence(platform)}`,
  ].join(rule);
}

/** Returns the notices for the plugin of the npm package, which does not contain Node. */
export function packageNotices(inputs: readonly string[]): string {
  return [
    "This plugin contains the packages below, each under its own licence.\n",
    ...licencesOfPackages(inputs),
  ].join(rule);
}

function licencesOfPackages(inputs: readonly string[]): string[] {
  return packagesOf(inputs).map((path) => {
    const { version, license } = lockedPackage(path);
    const head = `${packageName(path)} ${version} (${license ?? "see below"})\n`;
    return [head, ...licenceFiles(join(root, path))].join("\n");
  });
}

export function licenceFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^(licen[cs]e|copying|notice)\b/i.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8"));
}

/** The packages for Windows have no LICENSE. The text is the same for each platform. */
async function nodeLicence(platform: Platform): Promise<string> {
  const platformLicence = join(root, await ensureRuntime(platform), "LICENSE");
  if (existsSync(platformLicence)) return readFileSync(platformLicence, "utf8");
  return readFileSync(join(root, await ensureRuntime("linux-amd64"), "LICENSE"), "utf8");
}
