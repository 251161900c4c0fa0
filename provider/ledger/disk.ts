/**
 * The operations on files, folders and locks of the ledger and of the run's folder. What they make is readable by this user only
 * (except on Windows).
 */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type * as sqliteModule from "node:sqlite";
import { attempt } from "../attempt";

/** Each operation throws the system's error, unless its comment says that it never throws. */
export interface Disk {
  /** Returns the names in a folder. */
  list(folder: string): string[];
  /** Returns undefined if nothing has this path. */
  stat(path: string): { mtimeMs: number } | undefined;
  /** Makes a folder and its parents, unless something has this path. */
  makeFolder(folder: string): void;
  /** Makes a file, which is complete as soon as it has its name. @throws EEXIST if the name is taken */
  create(path: string, content: string): void;
  /** Replaces a file. Others see the old content or the new one. */
  replace(path: string, content: string): void;
  /** Adds to the end of a file, and makes the file if it is missing. */
  append(path: string, content: string): void;
  /** Returns the content of a file. */
  read(path: string): string;
  /** Resolves once the content of the file survives a power cut. */
  sync(path: string): Promise<void>;
  /** Resolves once the names of the folder's new files survive a power cut. Never rejects, even if that fails. */
  syncFolder(folder: string): Promise<void>;
  /** Removes a file if that is possible. Never throws. */
  remove(path: string): void;
  /** Removes a folder if it is empty and that is possible. Never throws. */
  removeFolder(folder: string): void;
  /**
   * Takes an exclusive lock, which ends at the latest with the process. With `make`, makes a missing file. Blocks the
   * process for at most `waitMs`. Never throws.
   */
  lock(path: string, options: { make: boolean; waitMs: number }): Lock;
  /**
   * Tests whether somebody holds the lock, without waiting. Several may test at once: to test is not to hold, but `lock`
   * has to wait for the end of a test. "failed": as in `Lock`. Never throws.
   */
  testLock(path: string): "free" | "held" | "failed";
}

/** An attempt to take a lock. Disposing of it releases the lock if it was taken. */
export interface Lock extends Disposable {
  /** "held": somebody else holds the lock. "failed": the file does not exist, or can't be locked. */
  readonly state: "taken" | "held" | "failed";
}

/** How a file system says that it has no hard links. On Windows, libuv makes EISDIR of it. */
const withoutLinks = ["EPERM", "ENOTSUP", "ENOSYS", "EISDIR"];

/** The disk of this machine. */
export const systemDisk: Disk = {
  list: (folder) => fs.readdirSync(folder),
  stat: (path) => fs.statSync(path, { throwIfNoEntry: false }),
  makeFolder,
  create: (path, content) => createComplete(path, content),
  replace(path, content) {
    const temporary = writeTemporary(path, content);
    try {
      whenNotInUse(() => fs.renameSync(temporary, path));
    } catch (error) {
      removeIfPossible(temporary);
      throw error;
    }
  },
  append: (path, content) => fs.appendFileSync(path, content, { mode: 0o600 }),
  read: (path) => whenNotInUse(() => fs.readFileSync(path, "utf8")),
  sync: (path) => whileOpen(path, "r+", promisify(fs.fdatasync)),
  async syncFolder(folder) {
    try {
      await whileOpen(folder, "r", promisify(fs.fsync));
    } catch {
      // Windows can't open a folder, and does not need the sync.
    }
  },
  remove: removeIfPossible,
  removeFolder: (folder) => attempt(() => fs.rmdirSync(folder)),
  lock,
  testLock,
};

/** How Windows says that another program has the file open, such as a virus scanner or another run. */
const inUse = ["EPERM", "EACCES", "EBUSY"];

/**
 * Does the work, on Windows again for 200 ms if a file is in use. Blocks the process.
 *
 * @throws the system's error
 */
export function whenNotInUse<T>(work: () => T, platform = process.platform): T {
  for (let triesLeft = 20; ; triesLeft--) {
    try {
      return work();
    } catch (error) {
      const isInUse = platform === "win32" && inUse.includes(codeOf(error) ?? "");
      if (!isInUse || triesLeft === 0) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/** The end of the names of files that are being written. */
export const temporaryEnd = ".tmp";
let temporaryCount = 0;

/**
 * Makes a file, complete under its name: a hard link to a temporary one.
 *
 * @throws EEXIST if the name is taken, or another error of the system
 */
export function createComplete(path: string, content: string, link = fs.linkSync): void {
  const temporary = writeTemporary(path, content);
  try {
    link(temporary, path);
  } catch (error) {
    if (!withoutLinks.includes(codeOf(error) ?? "")) throw error;
    // For a moment, the file is empty.
    fs.writeFileSync(path, content, { flag: "wx", mode: 0o600 });
  } finally {
    removeIfPossible(temporary);
  }
}

/** Only `work` may take long, and leaves this thread free. @throws the system's error */
async function whileOpen(
  path: string,
  flags: "r" | "r+",
  work: (descriptor: number) => Promise<void>,
): Promise<void> {
  const descriptor = fs.openSync(path, flags);
  try {
    await work(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

function removeIfPossible(path: string): void {
  try {
    whenNotInUse(() => fs.unlinkSync(path));
  } catch {
    // Left for a later run, which tries again.
  }
}

/** Writes a file beside the one of this path, and returns its path. @throws the system's error */
function writeTemporary(path: string, content: string): string {
  const temporary = `${path}.${process.pid}-${++temporaryCount}${temporaryEnd}`;
  fs.writeFileSync(temporary, content, { mode: 0o600 });
  return temporary;
}

/**
 * Unlike mkdir's `recursive`, this does not report a read-only file system as a missing folder.
 *
 * @throws the system's error
 */
function makeFolder(folder: string): void {
  if (!fs.existsSync(dirname(folder)) && dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** The code of SQLite's error SQLITE_BUSY, which means that the lock is held. */
const busyCode = 5;

/**
 * Takes SQLite's lock on an empty database file. Once the file exists, only SQLite may open it: on POSIX systems, closing
 * any handle releases all locks that the process has on the file.
 */
function lock(path: string, { make, waitMs }: { make: boolean; waitMs: number }): Lock {
  try {
    if (make && !fs.existsSync(path)) fs.writeFileSync(path, "", { flag: "a", mode: 0o600 });
  } catch {
    // Then SQLite can't open the file either.
  }
  return beginTransaction(path, { mode: "rw", begin: "BEGIN EXCLUSIVE", waitMs });
}

/** Takes SQLite's shared lock for a moment, which is only possible while nobody holds the exclusive one. */
function testLock(path: string): "free" | "held" | "failed" {
  // A transaction takes its shared lock when it reads.
  const begin = "BEGIN; SELECT count(*) FROM sqlite_master";
  using lock = beginTransaction(path, { mode: "ro", begin, waitMs: 0 });
  return lock.state === "taken" ? "free" : lock.state;
}

/** Opens the database, and begins a transaction with its lock. To dispose of the lock closes the database. */
function beginTransaction(
  path: string,
  { mode, begin, waitMs }: { mode: "ro" | "rw"; begin: string; waitMs: number },
): Lock {
  let database: sqliteModule.DatabaseSync | undefined;
  const release = () => {
    if (database?.isOpen) database.close();
  };
  try {
    database = new (loadSqlite().DatabaseSync)(databaseUrl(path, mode), { timeout: waitMs });
    // Nothing is ever written to the database, and a journal in memory needs no second file.
    database.exec(`PRAGMA journal_mode = MEMORY; ${begin}`);
    return { state: "taken", [Symbol.dispose]: release };
  } catch (error) {
    release();
    const { errcode = 0 } = error as { errcode?: number };
    const primaryCode = errcode & 0xff; // The lowest byte of an extended code is the primary code.
    return { state: primaryCode === busyCode ? "held" : "failed", [Symbol.dispose]: release };
  }
}

/** A share of Windows (`\\server\share`) belongs to the path, because SQLite refuses a URL with a host. */
export function databaseUrl(path: string, mode: "ro" | "rw", windows?: boolean): URL {
  const { host, pathname } = pathToFileURL(path, { windows });
  return new URL(`file://${host && `//${host}`}${pathname}?mode=${mode}`);
}

/** Loads node:sqlite when it is needed, and suppresses the warning of older Node versions that the module is experimental. */
function loadSqlite(): typeof sqliteModule {
  const emitWarning = Object.getOwnPropertyDescriptor(process, "emitWarning");
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    if (emitWarning) Object.defineProperty(process, "emitWarning", emitWarning);
  }
}

/** Whether the error says that a path does not exist. That includes a path below a file, which can't exist. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

/** The code of a system error. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
