/** All that the ledger does with files and locks, which are for their owner only; tests bring their own. */
import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fstatSync,
  fsync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { FileLock, type NoLock } from "./fileLock";

export interface Disk {
  /** Damaged files that this process has warned of. */
  readonly saidDamaged: Set<string>;
  /** The names in a folder. @throws */
  list(folder: string): string[];
  /** Undefined where it is not there. @throws */
  stat(path: string): { size: number; mtimeMs: number } | undefined;
  exists(path: string): boolean;
  /** With its parents; it may be there already. @throws */
  makeFolder(folder: string): void;
  /** Makes the names of new files in it survive a power cut, where the system can do that. */
  syncFolder(folder: string): Promise<void>;
  /** A new file, for reading and appending. @throws EEXIST where there is one */
  create(path: string): OpenFile;
  /** @throws */
  open(path: string, forAppending: boolean): OpenFile;
  /** Never throws. */
  remove(path: string): void;
  /** Free once its process has ended. Waits for `waitMs` at most, and blocks meanwhile. Never throws. */
  lock(path: string, how: { make: boolean; waitMs: number }): Lock | NoLock;
}

export interface OpenFile {
  size(): number;
  /** From that byte to the end. @throws */
  read(from: number): Buffer;
  /** All of `text`, at the end of the file. @throws */
  append(text: string): void;
  /** Resolves once what was appended survives a power cut. */
  sync(): Promise<void>;
  /** @throws */
  close(): void;
}

export interface Lock {
  release(): void;
}

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants;

export const systemDisk: Disk = {
  saidDamaged: new Set(),
  list: (folder) => readdirSync(folder),
  stat: (path) => statSync(path, { throwIfNoEntry: false }),
  exists: existsSync,
  makeFolder,
  syncFolder,
  create: (path) => openFile(openSync(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL, 0o600)),
  open: (path, forAppending) =>
    openFile(openSync(path, forAppending ? O_RDWR | O_APPEND : O_RDONLY)),
  remove(path) {
    try {
      rmSync(path, { force: true });
    } catch {
      // The next session tries again.
    }
  },
  lock: (path, { make, waitMs }) => FileLock[make ? "make" : "take"](path, waitMs),
};

function openFile(file: number): OpenFile {
  const size = () => fstatSync(file).size;
  return {
    size,
    read(from) {
      const bytes = Buffer.alloc(Math.max(0, size() - from));
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from));
    },
    append(text) {
      const bytes = Buffer.from(text);
      for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    },
    sync: () => promisify(fdatasync)(file),
    close: () => closeSync(file),
  };
}

async function syncFolder(folder: string): Promise<void> {
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

/** Not by mkdir's `recursive`, which reports a read-only file system as a missing folder. */
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

/** A file in place of the folder holds no records either; the next write tells of it. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

export function reason(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.message ?? String(error);
}
