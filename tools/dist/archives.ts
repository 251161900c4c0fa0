/** Builds the plugin as a single executable with Node inside, for each platform, and packs it in dist/. */
import { hash } from "node:crypto";
import { chmodSync, globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { create } from "tar";
import metadata from "../../metadata.json";
import { executable as pluginName } from "../../provider/process/executable";
import { makeExecutable } from "./executable";
import { notices } from "./notices";
import { makeParts } from "./parts";
import { executableName, platformNames, thisPlatform, type Platform } from "./platforms";
import { sbom } from "./sbom";
import { writeWhole, temporaryFolder } from "../support/files";
import { ensureProduct } from "../support/products";
import { say } from "../support/main";
import { root } from "../support/paths";

/** The products are made again if these change. */
const toolSources = [
  ...["tools/support/bundle.ts", "package-lock.json", "metadata.json"],
  ...globSync("tools/dist/**/*.ts", { cwd: root, exclude: ["**/*.test.ts"] }),
];

/** Builds a platform's executable unless it is up to date, and returns its path. May download its Node. */
export async function ensureExecutable(platform = thisPlatform()): Promise<string> {
  const path = executableOf(platform);
  await ensureProduct({
    name: `the plugin for ${platform}`,
    outputs: [path],
    stamp: `.tools/stamps/plugin-${platform}`,
    make: async () => {
      const made = await makeExecutable(platform, await makeParts(), join(root, path));
      return [...toolSources, ...made];
    },
  });
  return join(root, path);
}

/** Packs a platform's archive unless it is up to date: `dist/pulumi-resource-compute-vVERSION-OS-ARCH.tar.gz`. */
export async function ensureArchive(platform = thisPlatform()): Promise<string> {
  await ensureExecutable(platform);
  const path = `dist/${archiveName(platform)}`;
  await ensureProduct({
    name: `the archive for ${platform}`,
    outputs: [path],
    stamp: `.tools/stamps/archive-${platform}`,
    make: async () => {
      await packPlugin(platform, join(root, executableOf(platform)), join(root, path));
      return [...toolSources, executableOf(platform), "LICENSE"];
    },
  });
  return join(root, path);
}

function archiveName(platform: Platform): string {
  return `${pluginName}-v${metadata.version}-${platform}.tar.gz`;
}

/** Packs an executable with the licence texts that must go with it. */
export async function packPlugin(
  platform: Platform,
  executable: string,
  target: string,
): Promise<void> {
  const { inputs } = await makeParts();
  const files: Readonly<Record<string, Buffer | string>> = {
    [executableName(platform)]: readFileSync(executable),
    LICENSE: readFileSync(join(root, "LICENSE")),
    "THIRD-PARTY-NOTICES.txt": await notices(inputs, platform),
  };
  using scratch = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(scratch.path, name), content);
    chmodSync(join(scratch.path, name), name === executableName(platform) ? 0o755 : 0o644);
  }
  const file = join(scratch.path, "archive.tar.gz");
  // The same files always make the same bytes: `portable` leaves out the owner and all other times.
  const options = { cwd: scratch.path, portable: true, mtime: packedAt, gzip: { level: 6 } };
  await create({ ...options, file }, Object.keys(files).sort());
  writeWhole(target, readFileSync(file));
}

/** The time of every file in an archive, as in npm's packages. */
const packedAt = new Date("1985-10-26T08:15:00Z");

function executableOf(platform: Platform): string {
  return `.tools/dist/${platform}/${executableName(platform)}`;
}

/** Writes the archives for these platforms (all, if none is given), a bill of materials and SHA256SUMS into dist/. */
export async function packPlugins(platforms: readonly Platform[]): Promise<void> {
  const wanted = platforms.length > 0 ? platforms : platformNames;
  const written: string[] = [];
  for (const platform of wanted) {
    const start = performance.now();
    const archive = await ensureArchive(platform);
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    const megabytes = (statSync(archive).size / 1e6).toFixed(1);
    say(`${relative(root, archive)}: ${megabytes} MB (${seconds} s)`);
    written.push(archive);
  }
  const { name, version } = metadata;
  const { inputs } = await makeParts();
  const billFile = join(root, "dist", `${pluginName}-v${version}.cdx.json`);
  writeWhole(billFile, `${JSON.stringify(await sbom(wanted, inputs), null, 2)}\n`);
  const checksumsFile = join(root, "dist", "SHA256SUMS");
  const checksumOf = (path: string) => `${hash("sha256", readFileSync(path))}  ${basename(path)}\n`;
  writeWhole(checksumsFile, [...written, billFile].map(checksumOf).join(""));
  say([billFile, checksumsFile].map((path) => relative(root, path)).join("\n"));
  for (const archive of written.filter((path) => path.includes(`-${thisPlatform()}.`)))
    say(`\nTo install it:\n  pulumi plugin install resource ${name} ${version} --file ${archive}`);
}

/**
 * What the pages and pipelines give to `pulumi plugin install --checksum`: those of the release or, until there is one, of
 * the archives that were built last. The same sources make the same archives on each machine.
 */
const committedFile = join(root, "tools", "dist", "SHA256SUMS");

/** Returns the SHA-256 of each platform's archive, by the archive's name, which may have the version before this one. */
export const committedChecksums = (): ReadonlyMap<string, string> => checksumsIn(committedFile);

export function committedChecksum(platform: Platform): string {
  const [, sum = ""] = [...committedChecksums()].find(([name]) => name.includes(platform)) ?? [];
  return sum;
}

/** Returns the SHA-256 of each file in dist/. */
export const packedChecksums = (): ReadonlyMap<string, string> =>
  checksumsIn(join(root, "dist", "SHA256SUMS"));

function checksumsIn(file: string): Map<string, string> {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

/** Builds all archives, and writes their checksums into the sources. */
export async function commitChecksums(): Promise<void> {
  await packPlugins(platformNames);
  const archives = [...packedChecksums()].filter(([name]) => name.endsWith(".tar.gz"));
  writeWhole(committedFile, archives.map(([name, sum]) => `${sum}  ${name}\n`).join(""));
  say("Run `npm run generate`, and commit what it writes.");
}
