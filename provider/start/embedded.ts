/**
 * The entry point of the single executable. It runs the bundle inside the executable, with V8's compiled code
 * from an earlier start. Node's own compile cache works only for files, so this entry point has a cache of its own.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { getRawAsset } from "node:sea";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { cacheDirectory } from "./cacheDirectory";

/** A digest of the bundle, defined by the build. Of the source, V8 itself only checks the length. */
declare const bundleDigest: string;

const folder = dirname(process.execPath);
// The build makes sure that the bundle is all ASCII.
const source = Buffer.from(getRawAsset("provider.js")).toString("latin1");
const cache = cacheFile();
const cachedData = cache === undefined ? undefined : readCache(cache);
const script = new Script(source, { filename: "provider.js", cachedData });
const isCached = cachedData !== undefined && script.cachedDataRejected === false;
// If an engine started this process, the last argument is the engine's address. The cache is then written when the
// process exits, because by then V8 has compiled the functions that an engine uses.
if (cache !== undefined && !isCached && /:\d+$/.test(process.argv.at(-1) ?? "")) {
  process.on("exit", () => writeCache(cache));
}
const start = script.runInThisContext() as (require: NodeJS.Require, folder: string) => void;
start(require, folder);

function cacheFile(): string | undefined {
  try {
    const name = `${bundleDigest}-${process.arch}-${cachedDataVersionTag()}`;
    return join(cacheDirectory(folder), name);
  } catch {
    // There is no home directory. Without a cache, the start is only slower.
    return undefined;
  }
}

function readCache(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

function writeCache(file: string): void {
  const temporary = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, script.createCachedData());
    renameSync(temporary, file);
  } catch {
    // Without a cache, the start is only slower.
  }
}
