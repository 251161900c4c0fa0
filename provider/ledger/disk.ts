/** What the ledger does with files, folders and locks. All that is made is for its owner only. */
import * as fs from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import type * as sqliteModule from "node:sqlite";

/** The disk as the ledger uses it; tests bring their own. */
export interface Disk {
  /** The names in a folder. @throws where the folder can't be read */
  list(folder: string): string[];
  /** The size in bytes, and when the file was last written. Undefined if it does not exist. @throws */
  stat(path: string): { size: number; mtimeMs: number } | undefined;
  /** Makes a folder and its parents, unless it exists. @throws */
  makeFolder(folder: string): void;
  /** Makes a new, empty file. @throws EEXIST if it exists */
  create(path: string): void;
  /** The bytes from this position to the end. @throws */
  read(path: string, from: number): Buffer;
  /** Appends the text to an existing file. @throws ENOENT if it does not exist */
  append(path: string, text: string): void;
  /** Resolves once what was appended survives a power cut. */
  sync(path: string): Promise<void>;
  /** Resolves once the names of new files in it survive a power cut, where the system can do that. */
  syncFolder(folder: string): Promise<void>;
  /** Removes a file, if that is possible. Never throws. */
  remove(path: string): void;
  /**
   * Takes an exclusive lock, which is free as soon as its process has ended. `make` makes the file if it does
   * not exist. Blocks the process for `waitMs` at most. Never throws.
   */
  lock(path: string, options: { make: boolean; waitMs: number }): Lock | LockFailure;
}

/** A lock that is held. */
export interface Lock {
  release(): void;
}

/** Why a lock was not given: another holds it, the file does not exist, or files can't be locked there. */
export type LockFailure = "held" | "missing" | "failed";

const { O_WRONLY, O_APPEND } = fs.constants;

/** The disk of this machine. */
export const systemDisk: Disk = {
  list: (folder) => fs.readdirSync(folder),
  stat: (path) => fs.statSync(path, { throwIfNoEntry: false }),
  makeFolder,
  create: (path) => fs.writeFileSync(path, "", { flag: "wx", mode: 0o600 }),
  read(path, from) {
    const file = fs.openSync(path, "r");
    try {
      const bytes = Buffer.alloc(Math.max(0, fs.fstatSync(file).size - from));
      return bytes.subarray(0, fs.readSync(file, bytes, 0, bytes.length, from));
    } finally {
      fs.closeSync(file);
    }
  },
  append(path, text) {
    const file = fs.openSync(path, O_WRONLY | O_APPEND);
    try {
      fs.writeFileSync(file, text);
    } finally {
      fs.closeSync(file);
    }
  },
  async sync(path) {
    await using file = await open(path, "r+");
    await file.datasync();
  },
  async syncFolder(folder) {
    try {
      await using file = await open(folder, "r");
      await file.sync();
    } catch {
      // Windows opens no folder, and needs none to be synced.
    }
  },
  remove(path) {
    try {
      fs.rmSync(path, { force: true });
    } catch {
      // The next session tries again.
    }
  },
  lock,
};

/**
 * Not with mkdir's `recursive`, which reports a read-only file system as a missing folder.
 *
 * @throws the error of the system
 */
function makeFolder(folder: string): void {
  try {
    makeOneFolder(folder);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    makeFolder(dirname(folder));
    makeOneFolder(folder);
  }
}

/**
 * Another process may make the same folder at the same time.
 *
 * @throws the error of the system
 */
function makeOneFolder(folder: string): void {
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** SQLite's SQLITE_BUSY. */
const busyCode = 5;

/**
 * The lock is one that SQLite has on its database, an empty file. Nothing but SQLite may open that file: on
 * POSIX systems, closing any handle of a file frees all locks that the process has on it.
 */
function lock(path: string, { make, waitMs }: { make: boolean; waitMs: number }) {
  let database: sqliteModule.DatabaseSync | undefined;
  const release = () => {
    try {
      database?.close();
    } catch {
      // It is closed already.
    }
  };
  try {
    if (make && !fs.existsSync(path)) fs.writeFileSync(path, "", { flag: "a", mode: 0o600 });
    const url = pathToFileURL(path);
    url.searchParams.set("mode", "rw");
    database = new (loadSqlite().DatabaseSync)(url, { timeout: waitMs });
    // Nothing is ever written, and the journal in memory needs no file beside this one.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return { release };
  } catch (error) {
    release();
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === busyCode) return "held";
    return make || fs.existsSync(path) ? "failed" : "missing";
  }
}

/** Loaded with the first lock: most starts of the plugin need none. Node 22 warns that the module is new. */
function loadSqlite(): typeof sqliteModule {
  const warnings = Object.getOwnPropertyDescriptor(process, "emitWarning");
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    if (warnings) Object.defineProperty(process, "emitWarning", warnings);
  }
}

/** Whether the error is that a path does not exist; a file in place of its folder holds no records either. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
