/** The weekly check of .github/workflows/engine.yml: tries the newest Pulumi CLI. */
import { dirname, join } from "node:path";
import { captured } from "../support/command";
import { runJest } from "../support/jest";
import { say, ToolError } from "../support/main";
import { ensureOfficialPulumi } from "../support/officialPulumi";
import { onPath, withPath } from "../support/onPath";
import { toolsDir } from "../support/paths";
import { pinnedPulumi, type PulumiRelease } from "../support/pulumiArchive.cjs";

/** Pulumi's own installer asks it, too. */
const latestVersion = "https://www.pulumi.com/latest-version";

/**
 * Returns the newest release, with the checksums that are published beside it. @throws {ToolError} if they can't be
 * read
 */
export async function newestPulumi(
  versionUrl = latestVersion,
  url = pinnedPulumi.url,
): Promise<PulumiRelease> {
  const version = (await textAt(versionUrl)).trim();
  if (!/^\d+\.\d+\.\d+$/.test(version))
    throw new ToolError(`${versionUrl} does not answer with a version, such as 3.258.0.`);
  const checksums = `${url}/v${version}/pulumi-${version}-checksums.txt`;
  const lines = (await textAt(checksums)).matchAll(
    /^([0-9a-f]{64}) +pulumi-v\S+?-(\w+-\w+)\.tar\.gz$/gm,
  );
  const sha256 = Object.fromEntries(
    Array.from(lines, ([, sum = "", platform = ""]) => [platform, sum] as const),
  );
  if (Object.keys(sha256).length === 0)
    throw new ToolError(`${checksums} has no SHA-256 of an archive.`);
  return { version, url, sha256 };
}

/** Runs the core tests with the newest Pulumi CLI. @throws {ToolError} if it can't be downloaded */
export async function tryNewestEngine(): Promise<void> {
  const release = await newestPulumi();
  // Not .tools/bin, which `onPath` ignores.
  const folder = join(toolsDir, "newest");
  say(`The newest Pulumi CLI is ${release.version}. This repository pins ${pinnedPulumi.version}.`);
  const pulumi = await ensureOfficialPulumi(release, { say, folder });
  if (pulumi === undefined) throw new ToolError("Without that download, nothing was tried.");
  runJest([{ projects: ["core"], env: { PATH: await pathFor(pulumi) } }]);
}

/**
 * Returns the PATH with which the tests use this CLI. @throws {ToolError} if it does not run, or they would use
 * another
 */
export async function pathFor(pulumi: string): Promise<string> {
  await captured(pulumi, ["version"]);
  const environment = withPath([dirname(pulumi)]);
  if (onPath("pulumi", environment) === pulumi) return environment.PATH;
  throw new ToolError(`The tests would not use ${pulumi}, so nothing was tried.`);
}

async function textAt(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new ToolError(`${url} answers with HTTP ${response.status}.`);
  return response.text();
}
