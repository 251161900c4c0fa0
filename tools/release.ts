/**
 * `npm run release -- STEP NAME`: the steps of a release, as .github/workflows/release.yml runs them.
 * RELEASING.md tells their order, and what to do when one fails.
 *
 *   check TAG        whether the tag, metadata.json and CHANGELOG.md agree
 *   pack LANGUAGE    an SDK as its registry wants it, in .tools/release/
 *   audit            whether vulnerabilities are known; asks npm's registry and vuln.go.dev
 *   publish PLACE    not by hand unless RELEASING.md says so
 */
import { join } from "node:path";
import { ensureGoTool } from "./go/tools";
import { packForRelease } from "./release/pack";
import { places, type Place } from "./release/publish";
import { disagreements, releaseNotes } from "./release/versions";
import { sdkNames } from "./sdk/languages";
import { captured } from "./support/command";
import { oneOf, runTool, say, ToolError } from "./support/main";
import { root } from "./support/paths";

const steps: Readonly<Record<string, (name: string) => Promise<void>>> = {
  async check(tag) {
    const found = disagreements(tag);
    if (found.length > 0) throw new ToolError(found.join("\n"));
    say(`${tag}: the versions agree. What the release says of it:\n`);
    console.log(releaseNotes());
  },
  async pack(language) {
    for (const file of await packForRelease(oneOf("SDK for", sdkNames, language)))
      console.log(file);
  },
  async audit() {
    await captured("npm", ["audit", "--omit=dev"], { cwd: root });
    say("npm audit: nothing is known of the packages.");
    const module = join(root, "sdk", "go", "compute");
    await captured(await ensureGoTool("govulncheck"), ["./..."], { cwd: module });
    say("govulncheck: nothing is known that the Go SDK calls.");
  },
  async publish(place) {
    await places[oneOf("place", Object.keys(places) as Place[], place)]();
  },
};

runTool({ allowPositionals: true }, async ({ positionals: [step = "", name = ""] }) => {
  await steps[oneOf("step", Object.keys(steps), step)]?.(name);
});
