/** Makes products again if their inputs have changed. Only one process at a time makes a product. */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fieldOf, hashOf, readIfThere, writeWhole } from "./files";
import { say } from "./main";
import { root, toolsDir } from "./paths";

interface Product {
  /** For messages: "the provider". */
  name: string;
  /** From the root. If one is missing, the product is made again. */
  outputs: readonly string[];
  /** Remembers what the product was made from. */
  stamp: string;
  /** Returns the files it was made from, from the root. */
  make(): Promise<readonly string[]>;
}

/** The inputs of the last build, and a hash of their sizes and times. */
interface Stamp {
  inputs: readonly string[];
  fingerprint: string;
}

export async function ensureProduct(product: Product): Promise<void> {
  if (isFresh(product)) return;
  await withLock(product.name.replaceAll("/", "-"), `building ${product.name}`, async () => {
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

/** Sizes and times of hundreds of files take only milliseconds. */
function fingerprintOf(paths: readonly string[]): string {
  // In another folder or with another Node, a product is out of date.
  return hashOf([root, process.execPath, ...paths.flatMap((path) => [path, sizeAndTime(path)])]);
}

function sizeAndTime(path: string): string {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.size} ${stat.mtimeMs}`;
}

/** SQLITE_BUSY: another process holds the lock. */
const sqliteBusy = 5;

/**
 * Runs `work` while no other process runs work under this name, or waits, and says what the other does. SQLite's lock
 * ends with its process, so none is left behind.
 */
export async function withLock<T>(
  name: string,
  doing: string | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const directory = join(toolsDir, "locks");
  mkdirSync(directory, { recursive: true });
  const database = new DatabaseSync(join(directory, name), { timeout: 0 });
  try {
    for (let isWaiting = false; !tryLock(database); isWaiting = true) {
      if (!isWaiting && doing !== undefined) say(`Waiting for another run, which is ${doing} …`);
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
