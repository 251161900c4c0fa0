/** One file of JavaScript for Node, out of a TypeScript file and all that it imports. */
import type { BuildOptions } from "esbuild";
import { ToolError } from "./main";
import { root } from "./paths";

interface Bundle {
  /** The files, by the path that esbuild gave them; `.map` and `.LEGAL.txt` where asked for. */
  files: readonly { path: string; text: string }[];
  /** What it is made of, as paths from the root. */
  inputs: readonly string[];
}

export async function bundle(
  entry: string,
  outfile: string,
  options: Pick<BuildOptions, "sourcemap" | "legalComments" | "define" | "target" | "banner"> = {},
): Promise<Bundle> {
  // Only here, since most runs build nothing.
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
  // Outside ASCII there are only comments: without them, V8 keeps a byte a character, not two.
  const ascii = (path: string, text: string) =>
    path.endsWith(".js") ? text.replace(/\P{ASCII}/gu, "?") : text;
  return {
    files: outputFiles.map(({ path, text }) => ({ path, text: ascii(path, text) })),
    inputs: Object.keys(metafile.inputs),
  };
}
