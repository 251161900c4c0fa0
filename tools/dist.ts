/**
 * `npm run dist`: builds the plugin as a single executable with Node inside, for each platform, and packs it
 * in dist/ for `pulumi plugin install`.
 *
 *   --only linux-amd64,…   builds only for these platforms
 *   --dry-run              runs the other steps of a release that can run on this machine, and publishes nothing
 */
import { hash } from "node:crypto";
import { chmodSync, globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { create } from "tar";
import metadata from "../metadata.json";
import { executable as pluginName } from "../provider/executable";
import { makeExecutable } from "./dist/executable";
import { notices } from "./dist/notices";
import { makeParts } from "./dist/parts";
import {
  executableName,
  platformNamed,
  platformNames,
  thisPlatform,
  type Platform,
} from "./dist/platforms";
import { sbom } from "./dist/sbom";
import { writeWhole, temporaryFolder } from "./support/files";
import { ensureProduct } from "./support/products";
import { runTool, say } from "./support/main";
import { root } from "./support/paths";

/** The products are made again if these change. */
const toolSources = [
  ...["tools/dist.ts", "tools/support/bundle.ts", "package-lock.json", "metadata.json"],
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
  const path = `dist/${pluginName}-v${metadata.version}-${platform}.tar.gz`;
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

/** Packs an executable with the licence texts that must go with it. */
export async function packPlugin(
  platform: Platform,
  executable: string,
  target: string,
): Promise<void> {
  const { inputs } = await makeParts();
  await makeArchive(target, {
    [executableName(platform)]: { content: readFileSync(executable), executable: true },
    LICENSE: { content: readFileSync(join(root, "LICENSE")) },
    "THIRD-PARTY-NOTICES.txt": { content: await notices(platform, inputs) },
  });
}

/** The time of every file in an archive, as in npm's packages. */
const packedAt = new Date("1985-10-26T08:15:00Z");

/** The same entries always make the same bytes. */
async function makeArchive(
  target: string,
  entries: Readonly<Record<string, { content: Buffer | string; executable?: boolean }>>,
): Promise<void> {
  using temporary = temporaryFolder();
  const scratch = temporary.path;
  for (const [name, { content, executable = false }] of Object.entries(entries)) {
    writeFileSync(join(scratch, name), content);
    chmodSync(join(scratch, name), executable ? 0o755 : 0o644);
  }
  const file = join(scratch, "archive.tar.gz");
  // `portable` leaves out the owner and all other times.
  const options = { cwd: scratch, portable: true, mtime: packedAt, gzip: { level: 6 } };
  await create({ ...options, file }, Object.keys(entries).sort());
  writeWhole(target, readFileSync(file));
}

function executableOf(platform: Platform): string {
  return `.tools/dist/${platform}/${executableName(platform)}`;
}

async function main(wanted: readonly Platform[]): Promise<void> {
  const written: string[] = [];
  for (const platform of wanted) {
    const start = performance.now();
    const archive = await ensureArchive(platform);
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    say(`${relative(root, archive)}: ${megabytes(archive)} MB (${seconds} s)`);
    written.push(archive);
  }
  const { inputs } = await makeParts();
  const billFile = join(root, "dist", `${pluginName}-v${metadata.version}.cdx.json`);
  writeWhole(billFile, `${JSON.stringify(await sbom(wanted, inputs), null, 2)}\n`);
  const checksumsFile = join(root, "dist", "SHA256SUMS");
  writeWhole(
    checksumsFile,
    [...written, billFile]
      .map((path) => `${hash("sha256", readFileSync(path))}  ${basename(path)}\n`)
      .join(""),
  );
  say([billFile, checksumsFile].map((path) => relative(root, path)).join("\n"));
  const { name, version } = metadata;
  for (const archive of written.filter((path) => path.includes(`-${thisPlatform()}.`)))
    say(`\nTo install it:\n  pulumi plugin install resource ${name} ${version} --file ${archive}`);
}

function megabytes(path: string): string {
  return (statSync(path).size / 1e6).toFixed(1);
}

if (require.main === module) {
  runTool(
    { options: { only: { type: "string" }, "dry-run": { type: "boolean" } } },
    async ({ values: { only, "dry-run": dryRun } }) => {
      if (dryRun) return (await import("./dist/dryRun.js")).dryRun();
      await main(only?.split(",").map(platformNamed) ?? platformNames);
    },
  );
}
