/**
 * The start of the single executable: runs the bundle inside it, with V8's compiled code from an earlier
 * start. Node's own compile cache is for files only.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { getRawAsset } from "node:sea";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { cacheDirectory } from "./cacheDirectory";

/** Defined by the build. V8 itself compares only the length of a source with that of the cached code. */
declare const bundleDigest: string;

const folder = dirname(process.execPath);
// The build makes sure that all of it is ASCII.
const source = Buffer.from(getRawAsset("provider.js")).toString("latin1");
const cache = cacheFile();
const cachedData = cache === undefined ? undefined : readCache(cache);
const script = new Script(source, { filename: "provider.js", cachedData });
const isCached = cachedData !== undefined && script.cachedDataRejected === false;
// Written at the end of a run that an engine started, whose address is the last argument: by then V8 has
// compiled what the runs of an engine need.
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
    // There is no home directory. Without a cache, the start is slower.
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
    // Without a cache, the start is slower.
  }
}
