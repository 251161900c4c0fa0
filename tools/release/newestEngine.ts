/** The weekly check of .github/workflows/engine.yml: tries the newest Pulumi CLI. */
import { dirname, join } from "node:path";
import { testedEngine } from "../../metadata.json";
import { captured } from "../support/command";
import { goEnvironment } from "../support/go";
import { runJest } from "../support/jest";
import { say, ToolError } from "../support/main";
import { ensureOfficialPulumi } from "../support/officialPulumi";
import { onPath, withPath } from "../support/onPath";
import { root, toolsDir } from "../support/paths";
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

/** The newest minor version of the engine may be so much higher than that of the tests. Pulumi has a release each week. */
const maxAhead = 10;

/** Says that the tests run with an engine that is too old beside the newest one. Undefined if it is not. */
export function isLeftBehind(newest: string, tested: string = testedEngine): string | undefined {
  const [[major, minor = 0], [testedMajor, testedMinor = 0]] = [newest, tested].map((version) =>
    version.replace(/^v/, "").split(".").map(Number),
  ) as [number[], number[]];
  if (major === testedMajor && minor - testedMinor <= maxAhead) return undefined;
  return `The newest Pulumi engine is ${newest}, and all tests run with ${tested}: raise the version in tools/go/engine and in metadata.json`;
}

/** Returns the newest version of the engine that Go's module proxy serves: `v3.276.0`. */
export async function newestServed(): Promise<string> {
  const list = ["list", "-m", "-f", "{{.Version}}", "github.com/pulumi/pulumi/pkg/v3@latest"];
  const cwd = join(root, "tools", "go", "engine");
  return (await captured("go", list, { cwd, env: goEnvironment() })).trim();
}

/**
 * Runs the core tests with the newest Pulumi CLI, and compares its calls with the recorded conversations. Fails also if the tests are
 * left behind. @throws {ToolError} if the CLI can't be downloaded
 */
export async function tryNewestEngine(): Promise<void> {
  const release = await newestPulumi();
  // Not .tools/bin, which `onPath` ignores.
  const folder = join(toolsDir, "newest");
  say(`The newest Pulumi CLI is ${release.version}. All tests ran with ${testedEngine}.`);
  const pulumi = await ensureOfficialPulumi(release, { say, folder });
  if (pulumi === undefined) throw new ToolError("Without that download, nothing was tried.");
  const env = { PATH: await pathFor(pulumi) };
  runJest([
    { projects: ["core"], env },
    { args: ["tests/engine/recordedCalls"], env },
  ]);
  const behind = isLeftBehind(await newestServed());
  if (behind === undefined) return;
  say(behind);
  process.exitCode = 1;
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
