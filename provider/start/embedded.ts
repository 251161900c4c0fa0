/**
 * The start of the single executable: the bundle inside it, with what V8 kept of it. Node's compile
 * cache is for files, so this does the same for a bundle that is none.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { getRawAsset } from "node:sea";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { cacheDirectory } from "./cacheDirectory";

/** Put here by the build. V8 itself compares no more than the length of a source. */
declare const bundleDigest: string;

const folder = dirname(process.execPath);
// Its bytes are all ASCII, which the build sees to.
const source = Buffer.from(getRawAsset("provider.js")).toString("latin1");
const cache = cacheFile();
const cachedData = cache === undefined ? undefined : readCache(cache);
const script = new Script(source, { filename: "provider.js", cachedData });
const isCached = cachedData !== undefined && script.cachedDataRejected === false;
// At the end of a run for the engine, whose address is last: by then what such runs need is compiled.
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
    return undefined; // nobody's home: slower to start, and nothing else
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
    // Slower to start, and nothing else.
  }
}
