import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, jest, test } from "@jest/globals";
import { temporaryFolder } from "../testing/temporaryFolder";
import { systemDisk, type Lock, type LockFailure } from "./disk";

afterEach(() => void jest.restoreAllMocks());

const make = (path: string) => systemDisk.lock(path, { make: true, waitMs: 0 });
const take = (path: string, waitMs = 0) => systemDisk.lock(path, { make: false, waitMs });

const taken = (lock: Lock | LockFailure): Lock => {
  expect(lock).toMatchObject({ release: expect.any(Function) });
  return lock as Lock;
};

test("one holds it at a time, also within a process; it is free once released, twice or not", () => {
  const folder = temporaryFolder();
  const path = join(folder, "a b?&%.lock");
  const lock = taken(make(path));
  expect(make(path)).toBe("held");
  // Who was refused has freed nothing.
  expect(take(path, 20)).toBe("held");
  lock.release();
  lock.release();
  taken(take(path)).release();
  expect(readdirSync(folder)).toEqual(["a b?&%.lock"]);
  expect(statSync(path)).toMatchObject({ size: 0 });
});

test("who only takes it makes no file; what can't be locked is told apart", () => {
  const folder = temporaryFolder();
  expect(take(join(folder, "none.lock"))).toBe("missing");
  expect(make(join(folder, "none", "x.lock"))).toBe("failed");
  expect(readdirSync(folder)).toEqual([]);
  mkdirSync(join(folder, "folder.lock"));
  expect(make(join(folder, "folder.lock"))).toBe("failed");
  writeFileSync(join(folder, "text.lock"), "no database");
  expect(make(join(folder, "text.lock"))).toBe("failed");
});

test("a Node without SQLite can't lock", () => {
  jest.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
  expect(make(join(temporaryFolder(), "a.lock"))).toBe("failed");
});

test("that node:sqlite is new, as an older Node warns, is told to nobody", () => {
  const warned = jest.spyOn(process, "emitWarning").mockReturnValue();
  const load = process.getBuiltinModule.bind(process);
  jest.spyOn(process, "getBuiltinModule").mockImplementation((name: string) => {
    process.emitWarning("SQLite is an experimental feature", "ExperimentalWarning");
    return load(name);
  });
  taken(make(join(temporaryFolder(), "a.lock"))).release();
  expect(warned).not.toHaveBeenCalled();
  process.emitWarning("another");
  expect(warned).toHaveBeenCalledTimes(1);
});

test("node:sqlite is loaded with the first lock, and not before", async () => {
  const path = join(temporaryFolder(), "a.lock");
  const script = `
    const { systemDisk } = require("./disk.ts");
    const isLoaded = () => process.moduleLoadList.includes("NativeModule sqlite");
    console.log(isLoaded());
    systemDisk.lock(${JSON.stringify(path)}, { make: true, waitMs: 0 }).release();
    console.log(isLoaded());`;
  const args = ["--import", "tsx", "--input-type=commonjs", "--eval", script];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: __dirname });
  expect(stdout).toBe("false\ntrue\n");
  expect(stderr).toBe("");
});
