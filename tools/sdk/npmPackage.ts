/**
 * What is published to npm: the compiled SDK, and the plugin beside it for the Node of the project, so
 * that nothing but npm is needed. The package is put together here and not in sdk/nodejs: from there
 * npm would put the plugin of a workspace onto everyone's PATH.
 */
import { cpSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import metadata from "../../metadata.json";
import { executable } from "../../provider/executable";
import { ensureSdkBuilt } from "../build";
import { packageNotices } from "../dist/notices";
import { bundle } from "../support/bundle";
import { writeWhole } from "../support/files";
import { root, toolsDir } from "../support/paths";

const pluginTarget = `node${metadata.sdk.nodejs.pluginNode}`;
/**
 * By this name a `path` in Pulumi.yaml finds it. On Windows it can't be started by itself: there
 * `PulumiPlugin.yaml` tells the engine to let Node do it.
 */
const start = `plugin/${executable}`;

/** Writes the package's directory; returns it, and what it was made from beside the SDK. */
export async function writeNpmPackage(): Promise<{ directory: string; inputs: readonly string[] }> {
  const sdk = await ensureSdkBuilt();
  const directory = join(toolsDir, "npm");
  rmSync(directory, { recursive: true, force: true });
  for (const name of ["bin", "LICENSE", "README.md"]) {
    cpSync(join(sdk, name), join(directory, name), { recursive: true });
  }

  const made = [
    await bundle("provider/start/fromNpm.ts", start, {
      target: "node18",
      banner: { js: "#!/usr/bin/env node" },
    }),
    await bundle("provider/start/launched.ts", "plugin/start.js", { target: pluginTarget }),
    await bundle("provider/main.ts", "plugin/provider.js", { target: pluginTarget }),
  ];
  for (const { path, text } of made.flatMap(({ files }) => files)) {
    writeWhole(join(directory, path.slice(root.length)), text);
  }
  const inputs = made.flatMap((it) => it.inputs);
  writeWhole(join(directory, "plugin", "schema.json"), readFileSync(join(root, "schema.json")));
  writeWhole(join(directory, "plugin", "THIRD-PARTY-NOTICES.txt"), packageNotices(inputs));
  writeWhole(join(directory, "plugin", "PulumiPlugin.yaml"), "runtime: nodejs\n");
  writeWhole(join(directory, "plugin", "package.json"), `{ "main": "${basename(start)}" }\n`);
  writeWhole(join(directory, "package.json"), packageJson(join(sdk, "package.json")));
  return { directory, inputs: [...inputs, "schema.json"] };
}

/** Two names for one program: the engine looks for the first, a person types the second. */
export const bin = { [executable]: start, [`pulumi-${metadata.name}`]: start };

function packageJson(file: string): string {
  const generated = JSON.parse(readFileSync(file, "utf8")) as { files: string[] };
  const files = [...generated.files, "plugin"];
  return `${JSON.stringify({ ...generated, files, bin }, undefined, 4)}\n`;
}
