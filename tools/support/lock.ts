/** One at a time, of all processes on this machine. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { toolsDir } from "./paths";
import { fieldOf } from "./errors";

const sqliteBusy = 5;

/**
 * Does `work` while no other process does work under the same name. The lock is one that the
 * operating system holds for SQLite: it goes with the process, so none is ever left behind.
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
    for (let waited = false; !tryLock(database); waited = true) {
      if (!waited) onWait();
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
