/** Collects the licence texts of the third-party code in the plugin, for THIRD-PARTY-NOTICES.txt. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/paths";
import { lockedPackage, ensureRuntime, type Platform } from "./platforms";

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

/** Returns the notices for the plugin that is made from these files, with the Node of the platform if it contains it. */
export async function notices(inputs: readonly string[], platform?: Platform): Promise<string> {
  const packages = packagesOf(inputs).map((path) => {
    const { version, license } = lockedPackage(path);
    const head = `${packageName(path)} ${version} (${license ?? "see below"})\n`;
    return [head, ...licenceFiles(join(root, path))].join("\n");
  });
  const node = platform && `Node.js\n\n${await nodeLicence(platform)}`;
  const contents = node === undefined ? "the packages" : "Node.js and the packages";
  const title = `This plugin contains ${contents} below, each under its own licence.\n`;
  return [title, ...packages, ...(node === undefined ? [] : [node])].join(rule);
}

export function licenceFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^(licen[cs]e|copying|notice)\b/i.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8"));
}

/** The packages for Windows have no LICENSE. The text is the same for each platform. */
async function nodeLicence(platform: Platform): Promise<string> {
  const licenceOf = async (platform: Platform) =>
    join(root, await ensureRuntime(platform), "LICENSE");
  const own = await licenceOf(platform);
  return readFileSync(existsSync(own) ? own : await licenceOf("linux-amd64"), "utf8");
}
