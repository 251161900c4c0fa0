/** Bundles a TypeScript file and all that it imports into one JavaScript file for Node. */
import type { BuildOptions } from "esbuild";
import { ToolError } from "./main";
import { root } from "./paths";

interface Bundle {
  /** The bundle, and its `.map` and `.LEGAL.txt` if the options ask for them. */
  files: readonly { path: string; text: string }[];
  /** Its inputs, as paths from the root. */
  inputs: readonly string[];
}

export async function bundle(
  entry: string,
  outfile: string,
  options: Pick<BuildOptions, "sourcemap" | "legalComments" | "define" | "target" | "banner"> = {},
): Promise<Bundle> {
  // Loaded here, because most runs build nothing.
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
      write: false,
      logLevel: "silent",
      ...options,
    })
    .catch((error: unknown) => {
      throw new ToolError(`${entry} does not build.\n${String(error)}`);
    });
  // Only comments have other characters than ASCII. Without those, V8 stores one byte for a character, not two.
  const ascii = (path: string, text: string) =>
    path.endsWith(".js") ? text.replace(/\P{ASCII}/gu, "?") : text;
  return {
    files: outputFiles.map(({ path, text }) => ({ path, text: ascii(path, text) })),
    inputs: Object.keys(metafile.inputs),
  };
}
