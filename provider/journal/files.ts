/** The journal's files: whole or not there at all, and for their owner only. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export function writeWhole(folder: string, file: string, text: string): void {
  const temporary = join(folder, `.${file}.${process.pid}`);
  try {
    makeFolder(folder);
    writeFileSync(temporary, text, { mode: 0o600 });
    renameSync(temporary, join(folder, file));
  } catch (error) {
    remove(temporary);
    throw error;
  }
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // It is only litter.
  }
}

/** Node's own way of making the parents calls a read-only file system a missing folder. */
function makeFolder(folder: string): void {
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

/** A file in place of the folder holds no entries either; the next write tells of it. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

export function reason(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.message ?? String(error);
}
