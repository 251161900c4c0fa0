/**
 * `npm run release -- STEP`: runs one step of a release, as .github/workflows/release.yml does, or of a weekly check.
 * RELEASING.md describes the order of the steps, and what to do when a step fails.
 *
 *   dry-run                checks the versions, packs each SDK, and publishes nothing
 *   check TAG              says whether the tag, metadata.json and CHANGELOG.md agree, and whether the tests are left behind by
 *                          the newest Pulumi engine
 *   plugins [PLATFORM …]   builds the plugin as a single executable with Node inside, for these platforms or all, and
 *                          packs it in dist/ for `pulumi plugin install`
 *   checksums              builds the plugins, and writes their checksums into tools/dist/, for `npm run generate`
 *   pack LANGUAGE          packs an SDK for its registry, in .tools/release/
 *   build                  compares Node with the official one, and then does both for all, as the release does
 *   audit                  looks for known vulnerabilities in npm's registry and at vuln.go.dev
 *   engine                 downloads the newest Pulumi CLI, runs the core tests with it, and compares its calls with the
 *                          recorded ones
 */
import { join } from "node:path";
import { commitChecksums, packPlugins } from "./dist/archives";
import { dryRun } from "./dist/dryRun";
import { platformNamed } from "./dist/platforms";
import { ensureGoTool } from "./go/tools";
import { buildRelease } from "./release/build";
import { isLeftBehind, newestServed, tryNewestEngine } from "./release/newestEngine";
import { disagreements, releaseNotes } from "./release/versions";
import { packForRelease, sdkNamed } from "./sdk/pack";
import { captured } from "./support/command";
import { oneOf, runTool, say, ToolError } from "./support/main";
import { root } from "./support/paths";

const steps: Readonly<Record<string, (...names: string[]) => Promise<void>>> = {
  "dry-run": dryRun,
  async check(tag = "") {
    const problems = [disagreements(tag), isLeftBehind(await newestServed()) ?? []].flat();
    if (problems.length > 0) throw new ToolError(problems.join("\n"));
    say(`${tag}: the versions agree. The release notes:\n`);
    console.log(releaseNotes());
  },
  async plugins(...platforms) {
    await packPlugins(platforms.map(platformNamed));
  },
  async pack(name = "") {
    for (const file of await packForRelease(sdkNamed(name))) console.log(file);
  },
  async audit() {
    await captured("npm", ["audit", "--omit=dev"], { cwd: root });
    say("npm audit: no known vulnerability.");
    const module = join(root, "sdk", "go");
    await captured(await ensureGoTool("govulncheck"), ["./..."], { cwd: module });
    say("govulncheck: no known vulnerability in the code that the Go SDK calls.");
  },
  build: () => buildRelease(),
  checksums: commitChecksums,
  engine: tryNewestEngine,
};

runTool({ allowPositionals: true }, async ({ positionals: [step = "", ...names] }) => {
  await steps[oneOf("step", Object.keys(steps), step)]?.(...names);
});
