/**
 * Assembles the npm package: the compiled SDK and the plugin, which runs on the project's own Node. It is in
 * .tools/npm, because npm puts the commands of a workspace on the PATH of all scripts here.
 */
import { cpSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import metadata from "../../metadata.json";
import { executable } from "../../provider/executable";
import { ensureSdkBuilt, entryTarget, pluginTarget } from "../build";
import { packageNotices } from "../dist/notices";
import { bundle } from "../support/bundle";
import { writeWhole } from "../support/files";
import { root, toolsDir } from "../support/paths";

/**
 * The engine looks for this name in the folder that a `path` in Pulumi.yaml names. Windows can't start the file
 * itself: there, `PulumiPlugin.yaml` tells the engine to use Node.
 */
const start = `plugin/${executable}`;

/** Returns the folder, and the files it was made from, other than those of the SDK. */
export async function writeNpmPackage(): Promise<{ directory: string; inputs: readonly string[] }> {
  const sdk = await ensureSdkBuilt();
  const directory = join(toolsDir, "npm");
  rmSync(directory, { recursive: true, force: true });
  for (const name of ["bin", "LICENSE", "README.md"]) {
    cpSync(join(sdk, name), join(directory, name), { recursive: true });
  }

  const bundles = [
    await bundle("provider/start/fromNpm.ts", start, {
      target: entryTarget,
      banner: { js: "#!/usr/bin/env node" },
    }),
    await bundle("provider/start/launched.ts", "plugin/start.js", { target: pluginTarget }),
    await bundle("provider/main.ts", "plugin/provider.js", { target: pluginTarget }),
  ];
  for (const { path, text } of bundles.flatMap(({ files }) => files)) {
    writeWhole(join(directory, path.slice(root.length)), text);
  }
  // The emulator is in the package once, beside the entry point for tests.
  writeWhole(
    join(directory, "plugin", "emulator.js"),
    'module.exports = require("../bin/testing/emulator.js");\n',
  );
  const inputs = bundles.flatMap((it) => it.inputs);
  writeWhole(join(directory, "plugin", "schema.json"), readFileSync(join(root, "schema.json")));
  writeWhole(join(directory, "plugin", "THIRD-PARTY-NOTICES.txt"), packageNotices(inputs));
  writeWhole(join(directory, "plugin", "PulumiPlugin.yaml"), "runtime: nodejs\n");
  writeWhole(join(directory, "plugin", "package.json"), `{ "main": "${basename(start)}" }\n`);
  writeWhole(join(directory, "package.json"), packageJson(join(sdk, "package.json")));
  return { directory, inputs: [...inputs, "schema.json"] };
}

/** The engine looks for the first command, and a person types the second. */
export const bin = { [executable]: start, [`pulumi-${metadata.name}`]: start };

/** npm warns if the project's Node is older than the plugin needs, although it is perhaps new enough for the SDK. */
function packageJson(file: string): string {
  const generated = JSON.parse(readFileSync(file, "utf8")) as { files: string[] };
  const files = [...generated.files, "plugin"];
  const engines = { node: `>=${metadata.sdk.nodejs.pluginNode}` };
  return `${JSON.stringify({ ...generated, files, bin, engines }, undefined, 4)}\n`;
}
