/** The ledger's files and folder, which are for their owner only. */
import { closeSync, fdatasync, fsync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";

/** What reaches the disk, as an argument: tests count it and make it fail. */
export interface Disk {
  /** All of `text`, at the end of the file. @throws */
  append(file: number, text: string): void;
  /** Resolves once what was appended survives a power cut. */
  sync(file: number): Promise<void>;
}

export const systemDisk: Disk = {
  append(file, text) {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
  },
  sync: promisify(fdatasync),
};

/** Makes the names of new files in it survive a power cut, where the system can do that. */
export async function syncFolder(folder: string): Promise<void> {
  let file: number | undefined;
  try {
    file = openSync(folder, "r");
    await promisify(fsync)(file);
  } catch {
    // Windows opens no folder, and needs none to be synced.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

export function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The next session tries again.
  }
}

/** With its parents. Not by mkdir's `recursive`, which reports a read-only file system as a missing folder. */
export function makeFolder(folder: string): void {
  try {
    make(folder);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    makeFolder(dirname(folder));
    make(folder);
  }
}

/** Another process may be making the same. */
function make(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** A file in place of the folder holds no records either; the next write tells of it. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

export function reason(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.message ?? String(error);
}
