/**
 * Assembles the npm package: the compiled SDK and the plugin, which runs on the project's own Node. It is in
 * .tools/npm, because npm puts the commands of a workspace on the PATH of all scripts here.
 */
import { cpSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import metadata from "../../metadata.json";
import { executable } from "../../provider/process/executable";
import { ensureSdkBuilt, entryTarget, pluginTarget } from "../build";
import { notices } from "../dist/notices";
import { writeBundle, writePlugin } from "../support/bundle";
import { writeWhole } from "../support/files";
import { npmLauncher } from "../support/launchers";
import { root } from "../support/paths";

/**
 * The engine looks for this name in the folder that a `path` in Pulumi.yaml names. Windows can't start the file
 * itself: there, `PulumiPlugin.yaml` tells the engine to use Node.
 */
const launcher = `plugin/${executable}`;
/**
 * What npm links in node_modules/.bin. It can't be the launcher: of a shell script, npm on Windows makes a command that needs a
 * shell. Nor can its first line unset NODE_OPTIONS: Alpine's `env` takes no options there.
 */
const start = "plugin/fromNpm.js";

/** Returns the folder, and the files it was made from, other than those of the SDK. */
export async function writeNpmPackage(): Promise<{ directory: string; inputs: readonly string[] }> {
  const sdk = await ensureSdkBuilt();
  const folder = ".tools/npm";
  const directory = join(root, folder);
  rmSync(directory, { recursive: true, force: true });
  for (const name of ["bin", "LICENSE", "README.md"]) {
    cpSync(join(sdk, name), join(directory, name), { recursive: true });
  }

  const entry = { target: entryTarget, banner: { js: "#!/usr/bin/env node" } };
  const plugin = { target: pluginTarget };
  const inputs = [
    ...(await writeBundle("provider/process/fromNpm.ts", `${folder}/${start}`, entry)),
    ...(await writePlugin(`${folder}/plugin`, plugin)),
  ];
  const files = {
    // The emulator is in the package once, beside the entry point for tests.
    "plugin/emulator.js": 'module.exports = require("../bin/testing/emulator.js");\n',
    "plugin/schema.json": readFileSync(join(root, "schema.json")),
    "plugin/THIRD-PARTY-NOTICES.txt": await notices(inputs),
    "plugin/PulumiPlugin.yaml": "runtime: nodejs\n",
    "plugin/package.json": `{ "main": "${basename(start)}" }\n`,
    "package.json": packageJson(join(sdk, "package.json")),
  };
  for (const [path, content] of Object.entries(files)) writeWhole(join(directory, path), content);
  writeWhole(join(directory, launcher), npmLauncher(basename(start)), 0o755);
  return { directory, inputs: [...inputs, "schema.json"] };
}

/** The engine looks for the first command, and a person types the second. */
export const bin = { [executable]: start, [`pulumi-${metadata.name}`]: start };

/** `engines` is that of the SDK. If the project's Node is too old for the plugin, the plugin says so (`fromNpm.ts`). */
function packageJson(file: string): string {
  const generated = JSON.parse(readFileSync(file, "utf8")) as { files: string[] };
  const files = [...generated.files, "plugin"];
  return `${JSON.stringify({ ...generated, files, bin }, undefined, 4)}\n`;
}
