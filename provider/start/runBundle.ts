/**
 * Runs the bundle of the plugin with the code that V8 has compiled from it. Node's own compile cache would have only the
 * functions that run while the file is loaded, a seventh of what a create runs.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { cacheDirectory } from "./cacheDirectory";

/** Defined by the build. The cache's file name has it, because V8 accepts the code of any source of equal length. */
declare const bundleDigest: string;

/** The plugin as its build has made it. */
interface Bundle {
  /** In stack traces. */
  file: string;
  source: string;
  /** Where the plugin is installed. */
  folder: string;
  /** Loads what the bundle does not contain: Node's own modules, and the emulator. */
  require: (name: string) => unknown;
}

/** What a process had done before it left its compiled code. */
type Stage = "created" | "started";

/**
 * Runs the bundle. An engine's process without compiled code of earlier ones leaves its own when it exits. The first that
 * creates an instance does so too, and from then on, all use that: a process that is asked for the schema alone has compiled
 * little.
 */
export function runBundle({ file, source, folder, require }: Bundle): void {
  const pathOf = (stage: Stage) => cacheFile(folder, stage);
  const read = (stage: Stage) => attempt(() => readCache(pathOf(stage)));
  const created = read("created");
  const cachedData = created ?? read("started");
  const wrapped = `(function (require, __dirname) {${source}\n})`;
  const script = new Script(wrapped, { filename: file, cachedData });
  const isRefused = script.cachedDataRejected === true;
  if (isRefused) attempt(() => rmSync(pathOf(created ? "created" : "started")));
  // The last argument is an engine's address. A command that a person types has compiled other functions.
  const isOfEngine = /:\d+$/.test(process.argv.at(-1) ?? "");
  if (isOfEngine && (isRefused || !created)) {
    let stage: Stage = "started";
    onFirstPost(() => (stage = "created"));
    process.on("exit", () => {
      if (stage === "created" || isRefused || !cachedData)
        attempt(() => writeCache(pathOf(stage), script.createCachedData()));
    });
  }
  const run = script.runInThisContext() as (require: Bundle["require"], folder: string) => void;
  run(require, folder);
}

/** @throws the error of the system if the user has no home directory */
function cacheFile(folder: string, stage: Stage): string {
  const name = [bundleDigest, process.arch, cachedDataVersionTag(), stage].join("-");
  return join(cacheDirectory(folder), name);
}

/** Calls `act` when this process sends its first POST, which is a create. undici publishes each request on this channel. */
function onFirstPost(act: () => void): void {
  const channel = "undici:request:create";
  const onRequest = (message: unknown) => {
    if ((message as { request: { method: string } }).request.method !== "POST") return;
    unsubscribe(channel, onRequest);
    act();
  };
  subscribe(channel, onRequest);
}

/** The checksum that a file begins with. V8 checks little of the code that it is given, and dies of what is damaged. */
const checksumBytes = 4;

/** @throws Error if the file is not there, or is damaged */
function readCache(file: string): Buffer {
  const content = readFileSync(file);
  const code = content.subarray(checksumBytes);
  if (content.readUInt32LE() !== crc32(code)) throw new Error("damaged");
  return code;
}

/** Other processes see no file, or all of it. */
function writeCache(file: string, code: Buffer): void {
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32LE(crc32(code));
  const temporary = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(temporary, Buffer.concat([checksum, code]));
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
