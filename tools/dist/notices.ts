/** The licence texts of what others wrote and the plugin contains. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/paths";
import { lockedPackage, ensureRuntime } from "./runtime";
import type { Platform } from "./platforms";

const rule = `\n${"=".repeat(80)}\n\n`;

/** The packages to which these files belong, as paths in node_modules. */
export function packagesOf(inputs: readonly string[]): string[] {
  const found = inputs.flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path) ?? [],
  );
  return [...new Set(found)].sort();
}

/** The name of the package at this path in node_modules. */
export function packageName(path: string): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

/** For the single executable. */
export async function notices(platform: Platform, inputs: readonly string[]): Promise<string> {
  return [
    "This plugin contains Node.js and the packages below, each under its own licence.\n",
    ...ofPackages(inputs),
    `Node.js\n\n${await nodeLicence(platform)}`,
  ].join(rule);
}

/** For the plugin without Node. */
export function packageNotices(inputs: readonly string[]): string {
  return [
    "This plugin contains the packages below, each under its own licence.\n",
    ...ofPackages(inputs),
  ].join(rule);
}

function ofPackages(inputs: readonly string[]): string[] {
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

/** The packages for Windows have no LICENSE; the text is the same for each platform. */
async function nodeLicence(platform: Platform): Promise<string> {
  const own = join(root, await ensureRuntime(platform), "LICENSE");
  if (existsSync(own)) return readFileSync(own, "utf8");
  return readFileSync(join(root, await ensureRuntime("linux-amd64"), "LICENSE"), "utf8");
}
