/** Tests the locks of the ledger. */
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, jest, test } from "@jest/globals";
import { temporaryFolder } from "../testing/temporaryFolder";
import { databaseUrl, systemDisk, whenNotInUse, type Lock } from "./disk";

afterEach(() => void jest.restoreAllMocks());

/** The statement with which a process holds SQLite's shared lock for longer than a test does. */
const beginTest = "BEGIN; SELECT count(*) FROM sqlite_master";

/** With what has a meaning in an address. Windows has no name with a question mark. */
const lockName = process.platform === "win32" ? "a b#&%.lock" : "a b?#&%.lock";

const lockOrMake = (path: string) => systemDisk.lock(path, { make: true, waitMs: 0 });
const lockExisting = (path: string, waitMs = 0) => systemDisk.lock(path, { make: false, waitMs });

/** Fails the test if the lock was not taken. */
const expectTaken = (lock: Lock): Lock => {
  expect(lock.state).toBe("taken");
  return lock;
};

test("on Windows, a file that another program has open for a moment is written all the same", () => {
  const failing = (...codes: string[]) => {
    const errors = codes.map((code) => Object.assign(new Error(code), { code }));
    return () => {
      const error = errors.shift();
      if (error) throw error;
      return "done";
    };
  };
  expect(whenNotInUse(failing("EPERM", "EACCES", "EBUSY"), "win32")).toBe("done");
  expect(() => whenNotInUse(failing("EPERM"), "linux")).toThrow("EPERM");
  expect(() => whenNotInUse(failing("ENOSPC"), "win32")).toThrow("ENOSPC");
  const forEver = failing(...Array<string>(100).fill("EBUSY"));
  expect(() => whenNotInUse(forEver, "win32")).toThrow("EBUSY");
});

test("a lock has one holder at a time, even within a process, and may be released twice", () => {
  const folder = temporaryFolder();
  const path = join(folder, lockName);
  const lock = expectTaken(lockOrMake(path));
  expect(lockOrMake(path).state).toBe("held");
  // The attempt that failed has not released the lock.
  expect(lockExisting(path, 20).state).toBe("held");
  lock[Symbol.dispose]();
  lock[Symbol.dispose]();
  expectTaken(lockExisting(path))[Symbol.dispose]();
  expect(readdirSync(folder)).toEqual([lockName]);
  expect(statSync(path)).toMatchObject({ size: 0 });
});

test("testing a lock shows its holder, makes no file, and does not look like holding to another tester", () => {
  const folder = temporaryFolder();
  const path = join(folder, lockName);
  expect(systemDisk.testLock(path)).toBe("failed");
  expect(readdirSync(folder)).toEqual([]);
  const lock = expectTaken(lockOrMake(path));
  for (let time = 0; time < 2; time++) expect(systemDisk.testLock(path)).toBe("held");
  // The tests have not released the lock.
  expect(lockExisting(path).state).toBe("held");
  lock[Symbol.dispose]();
  expect(systemDisk.testLock(path)).toBe("free");

  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const tester = new DatabaseSync(path);
  tester.exec(beginTest);
  expect(systemDisk.testLock(path)).toBe("free");
  expect(lockExisting(path).state).toBe("held");
  tester.close();
  expectTaken(lockExisting(path))[Symbol.dispose]();
  expect(readdirSync(folder)).toEqual([lockName]);
  expect(statSync(path)).toMatchObject({ size: 0 });
});

test("the lock of a home on a share of Windows has a URL that SQLite opens", () => {
  const { href } = databaseUrl("\\\\server\\home$\\a b#%.lock", "rw", true);
  expect(href).toBe("file:////server/home$/a%20b%23%25.lock?mode=rw");
  // Here, further slashes at the beginning of a path mean nothing.
  const path = join(temporaryFolder(), "a.lock");
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  new DatabaseSync(new URL(`file:///${path}?mode=rwc`)).close();
  expect(statSync(path).size).toBe(0);
});

test("without `make` no file is made, and no lock is taken on what is no lock file", () => {
  const folder = temporaryFolder();
  expect(lockExisting(join(folder, "none.lock")).state).toBe("failed");
  expect(lockOrMake(join(folder, "none", "x.lock")).state).toBe("failed");
  expect(readdirSync(folder)).toEqual([]);
  mkdirSync(join(folder, "folder.lock"));
  expect(lockOrMake(join(folder, "folder.lock")).state).toBe("failed");
  writeFileSync(join(folder, "text.lock"), "no database");
  expect(lockOrMake(join(folder, "text.lock")).state).toBe("failed");
  for (const name of ["folder", "text"]) {
    expect(systemDisk.testLock(join(folder, `${name}.lock`))).toBe("failed");
  }
});

test("with a Node without SQLite, a lock can't be taken", () => {
  jest.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
  const path = join(temporaryFolder(), "a.lock");
  expect(lockOrMake(path).state).toBe("failed");
  expect(systemDisk.testLock(path)).toBe("failed");
});

test("the warning of older Node versions about node:sqlite is suppressed", () => {
  const warned = jest.spyOn(process, "emitWarning").mockReturnValue();
  const load = process.getBuiltinModule.bind(process);
  jest.spyOn(process, "getBuiltinModule").mockImplementation((name: string) => {
    process.emitWarning("SQLite is an experimental feature", "ExperimentalWarning");
    return load(name);
  });
  expectTaken(lockOrMake(join(temporaryFolder(), "a.lock")))[Symbol.dispose]();
  expect(warned).not.toHaveBeenCalled();
  process.emitWarning("another");
  expect(warned).toHaveBeenCalledTimes(1);
});
