/**
 * Compares the Node of the npm packages, which goes into the executables, with the Node that nodejs.org has published and a
 * releaser of Node has signed. nodejs.kbx has the keys of the releasers: it is gpg-only-active-keys/pubring.kbx of
 * https://github.com/nodejs/release-keys at b28073028e6d.
 */
import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { captured } from "../support/command";
import { temporaryFolder, unpack } from "../support/files";
import { say, ToolError } from "../support/main";
import { root } from "../support/paths";
import { ensureRuntime, lockedPackage, nodeIn, platforms, type Platform } from "./platforms";

/** Where the releases of Node are, and the file with the keys that may sign them, as gpgv reads it. */
export interface NodeReleases {
  url: string;
  keyring: string;
}

export const nodejsOrg: NodeReleases = {
  url: "https://nodejs.org/dist",
  keyring: join(root, "tools", "dist", "nodejs.kbx"),
};

/** The Node of a platform: its version, the file that will go into the executable, and what Node's release calls it. */
export interface PackagedNode {
  version: string;
  file: string;
  /** The archive that has `bin/node`, or the executable itself. */
  published: string;
}

/** May fetch the npm package. */
export async function packagedNode(platform: Platform): Promise<PackagedNode> {
  const { version } = lockedPackage(`node_modules/${platforms[platform]}`);
  const file = join(root, nodeIn(platform, await ensureRuntime(platform)));
  return { version, file, published: publishedName(platform, version) };
}

export function publishedName(platform: Platform, version: string): string {
  const name = platform.replace("amd64", "x64").replace("windows", "win");
  return name.startsWith("win") ? `${name}/node.exe` : `node-v${version}-${name}.tar.gz`;
}

/** @throws {ToolError} if the file is another one than Node has published, or if that can't be found out */
export async function compareWithOfficial(
  { version, file, published }: PackagedNode,
  releases: NodeReleases,
): Promise<void> {
  const official = await officialHash(version, published, releases);
  const packaged = hash("sha256", readFileSync(file));
  if (packaged !== official) {
    throw new ToolError(
      `The Node ${version} of the npm package is not the one of ${releases.url}/v${version}/${published}. ` +
        `Its SHA-256 is ${packaged}, and that of the official one ${official}. Nothing was packed.`,
    );
  }
  say(`Node ${version}, ${published}: the npm package has the official one (${packaged}).`);
}

/** Returns the SHA-256 of the official executable. @throws {ToolError} if no releaser of Node has signed for it */
async function officialHash(
  version: string,
  published: string,
  releases: NodeReleases,
): Promise<string> {
  const folder = `${releases.url}/v${version}`;
  const signed = await signedText(`${folder}/SHASUMS256.txt.asc`, releases.keyring);
  const line = signed.split("\n").find((line) => line.endsWith(`  ${published}`));
  const [sum] = line?.split(" ") ?? [];
  if (sum === undefined) throw new ToolError(`${folder}/SHASUMS256.txt.asc lacks ${published}`);
  if (!published.endsWith(".tar.gz")) return sum;
  using scratch = temporaryFolder();
  const bytes = await fetched(`${folder}/${published}`);
  const found = hash("sha256", bytes);
  if (found !== sum) {
    throw new ToolError(
      `The SHA-256 of ${folder}/${published} is ${found}, and the signed one ${sum}. Nothing was packed.`,
    );
  }
  const archive = join(scratch.path, "node.tar.gz");
  writeFileSync(archive, bytes);
  await unpack(archive, join(scratch.path, "node"));
  return hash("sha256", readFileSync(join(scratch.path, "node", "bin", "node")));
}

/** Returns the text that one of the keys has signed, without what may stand around it. */
async function signedText(url: string, keyring: string): Promise<string> {
  using scratch = temporaryFolder();
  const signed = join(scratch.path, "signed.asc");
  const text = join(scratch.path, "text");
  writeFileSync(signed, await fetched(url));
  // Without a home, gpgv would look for further keys in that of the user.
  const options = ["--homedir", scratch.path, "--keyring", keyring, "--output", text];
  await captured("gpgv", [...options, signed]).catch((error: Error) => {
    throw new ToolError(`No key of a releaser of Node has signed ${url}.\n${error.message}`);
  });
  return readFileSync(text, "utf8");
}

async function fetched(url: string): Promise<Buffer> {
  const response = await fetch(url).catch((error: Error) => error);
  if (response instanceof Error || !response.ok) {
    const why = response instanceof Error ? String(response.cause) : `status ${response.status}`;
    throw new ToolError(`${url} can't be downloaded (${why}). Nothing was packed.`);
  }
  return Buffer.from(await response.arrayBuffer());
}
