/** Bundles a TypeScript file with all its imports into one file for Node. */
import { basename, join, resolve } from "node:path";
import type { BuildOptions, Metafile, OutputFile, Plugin } from "esbuild";
import { joinParts } from "../../provider/process/partsFile";
import { writeWhole } from "./files";
import { ToolError } from "./main";
import { root } from "./paths";

interface Bundle {
  code: string;
  /** The files it was made from, from the root. */
  inputs: readonly string[];
}

/** A file that is in the bundle of the plugin. */
export interface Module {
  /** Its path from the root. */
  name: string;
  bytes: number;
  part: string;
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

/**
 * Leaves out of undici what only its index needs, such as `fetch`. The first request would wait until it is loaded,
 * some 7 ms. What sends a request imports none of it.
 */
const undiciWithoutFetch: Plugin = {
  name: "undici-without-fetch",
  setup(build) {
    build.onResolve({ filter: /^\.\/lib\/(cache|interceptor|mock|web)\// }, ({ path, importer }) =>
      importer.endsWith(join("undici", "index.js")) ? { path, namespace: "left-out" } : undefined,
    );
    // The index makes one of this class.
    const contents = "module.exports = { CacheStorage: class {} };";
    build.onLoad({ filter: /^/, namespace: "left-out" }, () => ({ contents }));
  },
};

/** `target` is the oldest Node that the code runs on, without which it is this one. The code begins with the `banner`. */
type Options = { target?: string; banner?: { js: string } };

/** Bundles `entry` in `outfile`. Returns the files it was made from. @throws {ToolError} if the file does not build */
export async function writeBundle(
  entry: string,
  outfile: string,
  options: Options = {},
): Promise<readonly string[]> {
  const { code, inputs } = await bundle(entry, options);
  writeWhole(resolve(root, outfile), code);
  return inputs;
}

/**
 * Writes the plugin into `folder`, as `provider.js`, and `start.js`, which runs it. Returns the files they were made from.
 *
 * @throws {ToolError} if a file does not build
 */
export async function writePlugin(
  folder: string,
  options: Pick<Options, "target"> = {},
): Promise<readonly string[]> {
  const { code, inputs } = await bundlePlugin(options);
  writeWhole(join(root, folder, "provider.js"), code);
  const starting = await writeBundle("provider/process/launched.ts", `${folder}/start.js`, options);
  return [...inputs, ...starting];
}

/** Bundles `entry` without writing anything. @throws {ToolError} if the file does not build */
export async function bundle(entry: string, options: Options = {}): Promise<Bundle> {
  const { outputs, metafile } = await build(entry, { ...options, format: "cjs" });
  const code = outputs.map(({ text }) => toAscii(text)).join("");
  return { code, inputs: Object.keys(metafile.inputs) };
}

/**
 * Bundles the plugin without writing anything. What is imported with `import()` is a part of its own, and so is what several
 * parts share. @throws {ToolError} if the plugin does not build
 */
export async function bundlePlugin(
  options: Pick<Options, "target"> = {},
): Promise<Bundle & { modules: readonly Module[] }> {
  const { transform } = await import("esbuild");
  const split = { ...options, format: "esm", splitting: true, outdir: "/" } as const;
  const { outputs, metafile } = await build("provider/process/main.ts", split);
  const parts = new Map<string, Buffer>();
  for (const { path, text } of outputs) {
    const { code } = await transform(text, { ...everywhere, ...options, format: "cjs" });
    // A module is strict, and what `transform` makes of one is not.
    const part = `(function (require, module, __dirname) {"use strict";${toAscii(code)}\n})\n`;
    parts.set(partName(path), Buffer.from(part));
  }
  const modules = Object.entries(metafile.outputs).flatMap(([path, { inputs }]) =>
    Object.entries(inputs).map(([name, { bytesInOutput: bytes }]) => ({
      name,
      bytes,
      part: partName(path),
    })),
  );
  return { code: joinParts(parts).toString(), inputs: Object.keys(metafile.inputs), modules };
}

/** As other parts import it. */
function partName(path: string): string {
  return `./${basename(path)}`;
}

const everywhere = {
  platform: "node",
  target: `node${process.versions.node}`,
  // In the single executable, a script can't import files.
  supported: { "dynamic-import": false },
  logLevel: "silent",
} as const;

async function build(
  entry: string,
  options: BuildOptions,
): Promise<{ outputs: readonly OutputFile[]; metafile: Metafile }> {
  const esbuild = await import("esbuild");
  const { outputFiles: outputs, metafile } = await esbuild
    .build({
      ...everywhere,
      ...options,
      absWorkingDir: root,
      entryPoints: [entry],
      bundle: true,
      metafile: true,
      plugins: [emulatorBeside, undiciWithoutFetch],
      write: false,
    })
    .catch((error: unknown) => {
      throw new ToolError(`${entry} does not build.\n${String(error)}`);
    });
  return { outputs, metafile };
}

/** Only comments have other characters. Without them, V8 stores a character in one byte, not in two. */
function toAscii(code: string): string {
  return code.replace(/\P{ASCII}/gu, "?");
}
