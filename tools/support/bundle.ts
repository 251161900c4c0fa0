/** Bundles a TypeScript file and all that it imports into one JavaScript file for Node. */
import type { BuildOptions, Plugin } from "esbuild";
import { ToolError } from "./main";
import { root } from "./paths";

interface Bundle {
  /** The bundle, and its `.map` and `.LEGAL.txt` if the options ask for them. */
  files: readonly { path: string; text: string }[];
  /** The files that the bundle was made from, as paths from the root. */
  inputs: readonly string[];
}

/** Leaves the emulator out of a bundle that imports it. The bundle loads it from a file beside it when needed. */
const emulatorBeside: Plugin = {
  name: "emulator-beside",
  setup(build) {
    build.onResolve({ filter: /\/emulator\/bundled\.js$/ }, () => ({
      path: "./emulator.js",
      external: true,
    }));
  },
};

/** Bundles `entry` without writing anything. @throws {ToolError} if the file does not build */
export async function bundle(
  entry: string,
  outfile: string,
  options: Pick<BuildOptions, "sourcemap" | "legalComments" | "define" | "target" | "banner"> = {},
): Promise<Bundle> {
  // esbuild is loaded only here, because most runs build nothing.
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
      // In the single executable, the script can use `require`, but can't import files.
      supported: { "dynamic-import": false },
      write: false,
      logLevel: "silent",
      ...options,
    })
    .catch((error: unknown) => {
      throw new ToolError(`${entry} does not build.\n${String(error)}`);
    });
  // Only comments have characters that are not ASCII. Without these, V8 stores each character in one byte, not in two.
  const toAscii = (path: string, text: string) =>
    path.endsWith(".js") ? text.replace(/\P{ASCII}/gu, "?") : text;
  return {
    files: outputFiles.map(({ path, text }) => ({ path, text: toAscii(path, text) })),
    inputs: Object.keys(metafile.inputs),
  };
}
