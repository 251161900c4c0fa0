/** Bundles a TypeScript file with all its imports into one JavaScript file for Node. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BuildOptions, Plugin } from "esbuild";
import { hashOf, writeWhole } from "./files";
import { ToolError } from "./main";
import { root } from "./paths";

interface Bundle {
  /** With `.map` and `.LEGAL.txt` if the options ask for them. */
  files: readonly { path: string; text: string }[];
  /** From the root. */
  inputs: readonly string[];
}

/** Leaves the emulator out of a bundle, which loads it from a file beside it when needed. */
const emulatorBeside: Plugin = {
  name: "emulator-beside",
  setup(build) {
    build.onResolve({ filter: /\/emulator\/bundled\.js$/ }, () => ({
      path: "./emulator.js",
      external: true,
    }));
  },
};

type Options = Pick<BuildOptions, "sourcemap" | "legalComments" | "define" | "target" | "banner">;

/** Bundles `entry` in `outfile`. Returns the files it was made from. @throws {ToolError} if the file does not build */
export async function writeBundle(
  entry: string,
  outfile: string,
  options: Options = {},
): Promise<readonly string[]> {
  const { files, inputs } = await bundle(entry, outfile, options);
  for (const { path, text } of files) writeWhole(path, text);
  return inputs;
}

/**
 * Writes the plugin into `folder`, as `provider.js`, and `start.js`, which runs it. Returns the files they were made from.
 *
 * @throws {ToolError} if a file does not build
 */
export async function writePlugin(folder: string, options: Options): Promise<readonly string[]> {
  const file = `${folder}/provider.js`;
  const inputs = await writeBundle("provider/main.ts", file, options);
  const define = digestOf(readFileSync(join(root, file), "utf8"));
  const start = { ...options, define };
  const starting = await writeBundle("provider/start/launched.ts", `${folder}/start.js`, start);
  return [...inputs, ...starting];
}

/** Returns the definition that tells what runs a bundle which one it is (`provider/start/runBundle.ts`). */
export function digestOf(source: string): NonNullable<Options["define"]> {
  return { bundleDigest: JSON.stringify(hashOf([source]).slice(0, 16)) };
}

/** Bundles `entry` without writing anything. @throws {ToolError} if the file does not build */
export async function bundle(
  entry: string,
  outfile: string,
  options: Options = {},
): Promise<Bundle> {
  const esbuild = await import("esbuild");
  const { outputFiles, metafile } = await esbuild
    .build({
      absWorkingDir: root,
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: "node",
      format: "cjs",
      target: `node${process.versions.node}`,
      metafile: true,
      plugins: [emulatorBeside],
      // In the single executable, a script can't import files.
      supported: { "dynamic-import": false },
      write: false,
      logLevel: "silent",
      ...options,
    })
    .catch((error: unknown) => {
      throw new ToolError(`${entry} does not build.\n${String(error)}`);
    });
  // Only comments have other characters. Without them, V8 stores a character in one byte, not in two.
  const toAscii = (path: string, text: string) =>
    path.endsWith(".js") ? text.replace(/\P{ASCII}/gu, "?") : text;
  return {
    files: outputFiles.map(({ path, text }) => ({ path, text: toAscii(path, text) })),
    inputs: Object.keys(metafile.inputs),
  };
}
