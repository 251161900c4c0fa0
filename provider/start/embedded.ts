/**
 * The entry point of the single executable. It runs the bundle inside, with a compile cache of its own, because Node's
 * works only for files.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { getRawAsset } from "node:sea";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { cacheDirectory } from "./cacheDirectory";

/** Defined by the build. The cache's file name has it, because V8 accepts the code of any source of equal length. */
declare const bundleDigest: string;

const folder = dirname(process.execPath);
const source = readScript("provider.js");
const cachePath = attempt(() => {
  const name = `${bundleDigest}-${process.arch}-${cachedDataVersionTag()}`;
  return join(cacheDirectory(folder), name);
});
const cachedData = cachePath === undefined ? undefined : attempt(() => readFileSync(cachePath));
const script = new Script(source, { filename: "provider.js", cachedData });
const isCached = cachedData !== undefined && script.cachedDataRejected === false;
// The last argument is an engine's address. By the exit, V8 has compiled the functions that an engine uses.
if (cachePath !== undefined && !isCached && /:\d+$/.test(process.argv.at(-1) ?? "")) {
  process.on("exit", () => attempt(() => writeCache(cachePath)));
}
const start = script.runInThisContext() as (
  require: (name: string) => unknown,
  folder: string,
) => void;
const nodeRequire: (name: string) => unknown = require;
start(requireFromBundle, folder);

/** The build makes sure that a bundle has only ASCII characters. */
function readScript(name: string): string {
  return Buffer.from(getRawAsset(name)).toString("latin1");
}

/** Loads Node's own modules, and the emulator, which is a bundle of its own. */
function requireFromBundle(name: string): unknown {
  if (name !== "./emulator.js") return nodeRequire(name);
  const emulator = new Script(readScript("emulator.js"), { filename: "emulator.js" });
  const load = emulator.runInThisContext() as (
    require: (name: string) => unknown,
    module: { exports: unknown },
  ) => void;
  const module = { exports: undefined };
  load(nodeRequire, module);
  return module.exports;
}

function writeCache(file: string): void {
  const temporary = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(temporary, script.createCachedData());
  renameSync(temporary, file);
}

/** Returns undefined if the action fails. Without a cache, the start is only slower. */
function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
