/**
 * An exclusive lock on a file, which the operating system holds for SQLite: it is free as soon as its
 * process has ended, however that ended. Nothing but SQLite may open such a file: on POSIX systems, closing
 * any handle of a file frees all locks that the process has on it.
 */
import { existsSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type * as sqliteModule from "node:sqlite";

/** Why a lock was not given: another has it, the file is not there, or files can't be locked there. */
export type NoLock = "held" | "missing" | "failed";

const busy = 5;

export class FileLock {
  private constructor(private readonly database: sqliteModule.DatabaseSync) {}

  /** Waits for `waitMs` at most, and blocks meanwhile. Never throws. */
  static take(path: string, waitMs = 0): FileLock | NoLock {
    let database: sqliteModule.DatabaseSync | undefined;
    try {
      const url = pathToFileURL(path);
      url.searchParams.set("mode", "rw");
      database = new (sqlite().DatabaseSync)(url, { timeout: waitMs });
      // Nothing is ever written, so that no file beside it is needed.
      database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
      return new FileLock(database);
    } catch (error) {
      close(database);
      if (((error as { errcode?: number }).errcode ?? 0) % 256 === busy) return "held";
      return existsSync(path) ? "failed" : "missing";
    }
  }

  /** The same, after it has made the file where there is none. */
  static make(path: string, waitMs = 0): FileLock | NoLock {
    try {
      writeFileSync(path, "", { flag: "wx", mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") return "failed";
    }
    return FileLock.take(path, waitMs);
  }

  release(): void {
    close(this.database);
  }
}

function close(database: sqliteModule.DatabaseSync | undefined): void {
  try {
    database?.close();
  } catch {
    // It is closed already.
  }
}

/** Loaded late: most starts of the plugin need none of it. Older versions of Node warn that it is new. */
function sqlite(): typeof sqliteModule {
  const warnings = Object.getOwnPropertyDescriptor(process, "emitWarning");
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    if (warnings) Object.defineProperty(process, "emitWarning", warnings);
  }
}
