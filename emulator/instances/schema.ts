/** The database: opening it, and the one table. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { OptionError } from "../options";

/** Goes up when the table changes; a file of another version is refused rather than misread. */
const version = 1;

/**
 * `seq` is never used twice, so that addresses aren't either. Rows stay when an instance is gone
 * (`gone_at` has passed): a cursor may still name them. `ready_at` without a value: never leaves
 * PROVISIONING. Times are milliseconds since 1970.
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
  PRAGMA user_version = ${String(version)};`;

export function openDatabase(path: string): DatabaseSync {
  if (path !== ":memory:" && !existsSync(dirname(path)))
    throw new OptionError(`database: the folder ${dirname(path)} does not exist`);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    prepare(database, path);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof OptionError) throw error;
    throw new OptionError(`database: ${path} cannot be used: ${(error as Error).message}`);
  }
}

function prepare(database: DatabaseSync, path: string): void {
  // A killed emulator loses nothing it answered with WAL; only a power cut might, which is fine here.
  database.exec(
    "PRAGMA busy_timeout = 2000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL",
  );
  const found = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (found === version) return;
  const tables = database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"];
  if (found !== 0 || Number(tables) > 0)
    throw new OptionError(`database: ${path} was not made by this version of the emulator`);
  database.exec(`BEGIN IMMEDIATE; ${table} COMMIT`);
}
