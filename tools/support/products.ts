/** Makes products again if their inputs have changed. Only one process at a time makes a product. */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fieldOf, hashOf, readIfThere, writeWhole } from "./files";
import { say } from "./main";
import { root, toolsDir } from "./paths";

/** A product: files or folders that a tool makes from other files. */
interface Product {
  /** The name in messages, such as "the provider". */
  name: string;
  /** Paths from the root. The product is made again if one of them is missing. */
  outputs: readonly string[];
  /** The file that remembers what the product was made from. */
  stamp: string;
  /** Makes the product, and returns the files it was made from, as paths from the root. */
  make(): Promise<readonly string[]>;
}

/** The content of a stamp file: the inputs of the last build, and a hash of their sizes and times. */
interface Stamp {
  inputs: readonly string[];
  fingerprint: string;
}

/** Makes the product unless it is up to date. */
export async function ensureProduct(product: Product): Promise<void> {
  if (isFresh(product)) return;
  const onWait = () => say(`Waiting for another run, which is building ${product.name} …`);
  await withLock(product.name.replaceAll("/", "-"), onWait, async () => {
    if (isFresh(product)) return;
    const inputs = [...(await product.make())].sort();
    const stamp: Stamp = { inputs, fingerprint: fingerprintOf(inputs) };
    writeWhole(join(root, product.stamp), JSON.stringify(stamp));
  });
}

function isFresh({ outputs, stamp }: Product): boolean {
  const json = readIfThere(join(root, stamp));
  if (json === undefined || outputs.some((path) => sizeAndTime(path) === "")) return false;
  const { inputs, fingerprint } = JSON.parse(json) as Stamp;
  return fingerprintOf(inputs) === fingerprint;
}

/**
 * Hashes the sizes and times of files instead of their content. For hundreds of files, this takes only milliseconds.
 */
function fingerprintOf(paths: readonly string[]): string {
  // A product that was made in another folder or with another Node is out of date.
  return hashOf([root, process.execPath, ...paths.flatMap((path) => [path, sizeAndTime(path)])]);
}

function sizeAndTime(path: string): string {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.size} ${stat.mtimeMs}`;
}

/** SQLite's error code SQLITE_BUSY: another process holds the lock. */
const sqliteBusy = 5;

/**
 * Runs `work` while no other process of this machine runs work under the same name. Calls `onWait` once if another
 * process has the lock. The lock is SQLite's: the operating system drops it when the process ends, so no lock is left
 * behind.
 */
export async function withLock<T>(
  name: string,
  onWait: () => void,
  work: () => Promise<T>,
): Promise<T> {
  const directory = join(toolsDir, "locks");
  mkdirSync(directory, { recursive: true });
  const database = new DatabaseSync(join(directory, name), { timeout: 0 });
  try {
    for (let isWaiting = false; !tryLock(database); isWaiting = true) {
      if (!isWaiting) onWait();
      await sleep(200);
    }
    return await work();
  } finally {
    database.close();
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (fieldOf(error, "errcode") === sqliteBusy) return false;
    throw error;
  }
}
