/** `npm run release -- dry-run`: checks the versions, packs each SDK, and publishes nothing. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import metadata from "../../metadata.json";
import { executable as pluginName } from "../../provider/process/executable";
import { packForRelease } from "../sdk/pack";
import { releaseNotes, versionDisagreements } from "../release/versions";
import { type Language } from "../sdk/languages";
import { captured } from "../support/command";
import { say, ToolError } from "../support/main";
import { npmOptions } from "../support/npm";
import { toolsDir } from "../support/paths";
import { onPath } from "../support/onPath";
import { platforms, thisPlatform } from "./platforms";

interface Step {
  title: string;
  /** The command that must be on PATH. Without it, the step is skipped. */
  needs?: string;
  run: () => Promise<string>;
}

const { node, package: npmPackage } = metadata.sdk.nodejs;
const { oldestEngine } = metadata;

const steps: readonly Step[] = [
  {
    title: "versions agree",
    async run() {
      const problems = versionDisagreements();
      if (problems.length > 0) throw new ToolError(problems.join("\n"));
      const notes = releaseNotes() === undefined ? "no section in CHANGELOG.md yet" : "with notes";
      return `${metadata.version}, ${notes}`;
    },
  },
  packing("nodejs", "npm", "npm: pack"),
  {
    title: "npm: publish --dry-run",
    needs: "npm",
    async run() {
      const [file = ""] = await packForRelease("nodejs");
      await captured("npm", ["publish", "--dry-run", "--access=public", file]);
      return npmPackage;
    },
  },
  {
    title: `npm: loads with the oldest Node (${node}) and @pulumi/pulumi (${oldestEngine})`,
    needs: "npm",
    run: loadOnOldest,
  },
  packing("python", "python3", "PyPI: build, twine check"),
  packing("go", "go", "Go: module, go vet"),
  packing("java", "mvn", "Maven: package, sources, javadoc"),
  packing("dotnet", "dotnet", "NuGet: pack"),
];

function packing(language: Language, needs: string, title: string): Step {
  return {
    title,
    needs,
    async run() {
      return (await packForRelease(language)).map((file) => basename(file)).join(" ");
    },
  };
}

/** Loads the packed SDK with the oldest Node and the oldest Pulumi SDK that it supports. */
async function loadOnOldest(): Promise<string> {
  const [file = ""] = await packForRelease("nodejs");
  const cwd = join(toolsDir, "scratch", "oldest");
  rmSync(cwd, { recursive: true, force: true });
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, "package.json"), "{}");
  const oldestNode = /\d+(\.\d+)*/.exec(node)?.[0] ?? "";
  const runtime = platforms[thisPlatform()];
  const packages = [file, `@pulumi/pulumi@${oldestEngine}`, `${runtime}@${oldestNode}`];
  await captured("npm", ["install", ...npmOptions, "--prefer-offline", ...packages], { cwd });
  const executable = join(cwd, "node_modules", runtime, "bin", "node");
  const program = `const { Instance } = require(${JSON.stringify(npmPackage)});
console.log(process.version, typeof Instance)`;
  const output = (await captured(executable, ["-e", program], { cwd })).trim();
  if (!output.endsWith(" function")) throw new ToolError(`The package has no Instance: ${output}`);
  // The plugin needs a newer Node than the SDK, and must say so.
  const plugin = join(cwd, "node_modules", ".bin", pluginName);
  const printed = await captured(executable, [plugin, "--version"]).catch(
    (error: Error) => error.message,
  );
  const [refusal] = /needs Node\.js \S+ or later/.exec(printed) ?? [];
  if (refusal === undefined) throw new ToolError(`The plugin accepts an old Node: ${printed}`);
  return `${output.split(" ")[0]}; the plugin in it ${refusal}`;
}

/** @throws {ToolError} with the output of the steps that failed */
export async function dryRun(): Promise<void> {
  const width = Math.max(...steps.map(({ title }) => title.length));
  const rows: string[] = [];
  const failures: string[] = [];
  const resultOf = async ({ title, needs, run }: Step): Promise<string> => {
    if (needs !== undefined && onPath(needs) === undefined)
      return `skipped  ${needs} is not on this machine`;
    try {
      return `ok       ${await run()}`;
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      failures.push(`${title}\n${error.message}`);
      return "FAILED   see below";
    }
  };
  for (const step of steps) {
    say(`${step.title} …`);
    rows.push(`${step.title.padEnd(width)}  ${await resultOf(step)}`);
  }
  console.log(`\n${rows.join("\n")}\n\nNothing was published.`);
  if (failures.length > 0) throw new ToolError(`\n${failures.join("\n\n")}`);
}
