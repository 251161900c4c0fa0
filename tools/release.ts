/**
 * `npm run release -- STEP`: the steps of a release, as .github/workflows/release.yml runs them.
 * RELEASING.md tells their order, and what to do when one fails.
 */
import { packForRelease } from "./release/pack";
import { places, type Place } from "./release/publish";
import { disagreements, releaseNotes } from "./release/versions";
import { sdkNames } from "./sdk/languages";
import { runTool, say, ToolError } from "./support/main";

const steps: Readonly<Record<string, (argument: string) => Promise<void>>> = {
  /** `check TAG` */
  async check(tag) {
    const found = disagreements(tag);
    if (found.length > 0) throw new ToolError(found.join("\n"));
    say(`${tag}: the versions agree. What the release says of it:\n`);
    console.log(releaseNotes());
  },
  /** `pack LANGUAGE` */
  async pack(language) {
    for (const file of await packForRelease(oneOf(sdkNames, language))) console.log(file);
  },
  /** `publish PLACE`; not by hand unless RELEASING.md says so. */
  async publish(place) {
    await places[oneOf(Object.keys(places) as Place[], place)]();
  },
};

async function main([step = "", argument = ""]: readonly string[]): Promise<void> {
  await steps[oneOf(Object.keys(steps), step)]?.(argument);
}

function oneOf<Name extends string>(names: readonly Name[], given: string): Name {
  const found = names.find((name) => name === given);
  if (found === undefined) {
    throw new ToolError(
      `"${given}" is none of ${names.join(", ")}: \`npm run release -- STEP NAME\``,
    );
  }
  return found;
}

runTool(main);
