import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { OptionError } from "../options";

/** Increase it when the table changes, so that a file of another version is refused. */
const version = 1;

/**
 * The row of a gone instance (`gone_at` has passed) stays, because its id may still be sent as the cursor. An instance
 * whose `ready_at` is NULL never leaves PROVISIONING. Times are milliseconds since 1970.
 */
const table = `
  CREATE TABLE instance (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    tenant      TEXT NOT NULL,
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    request     TEXT NOT NULL,
    ipv4_public TEXT NOT NULL,
    networks    TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    ready_at    INTEGER,
    end_status  TEXT NOT NULL,
    visible_at  INTEGER NOT NULL,
    gone_at     INTEGER,
    shuffle     INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX instance_by_age ON instance (tenant, kind, seq);
  CREATE INDEX instance_by_shuffle ON instance (tenant, kind, shuffle, seq);
  PRAGMA user_version = ${version};`;

/**
 * Opens the database, or creates it. `:memory:` is a database without a file.
 * @throws {OptionError} if the path can't be used
 */
export function openDatabase(path: string): DatabaseSync {
  if (path !== ":memory:" && !existsSync(dirname(path)))
    throw cannotUse(path, `the folder ${dirname(path)} does not exist`);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    createTable(database, path);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof OptionError) throw error;
    throw cannotUse(path, (error as Error).message);
  }
}

function cannotUse(path: string, why: string): OptionError {
  return new OptionError(`${path} can't be used: ${why}`, "database");
}

function createTable(database: DatabaseSync, path: string): void {
  // With WAL, a killed emulator loses nothing that it has confirmed to a caller. A power cut may lose some of it.
  database.exec(
    "PRAGMA busy_timeout = 2000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL",
  );
  const found = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (found === version) return;
  const tables = database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"];
  if (found !== 0 || Number(tables) > 0)
    throw cannotUse(path, "this version of the emulator did not make it; name another file");
  database.exec(`BEGIN IMMEDIATE; ${table} COMMIT`);
}
