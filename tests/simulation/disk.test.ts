/** Tests that the disk of the simulation behaves like the disk of the system, and loses what a power cut may lose. */
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { systemDisk, type Disk, type Lock } from "../../provider/ledger/disk";
import { Ledger } from "../../provider/ledger/ledger";
import { newRecord } from "../../provider/testing/ledgerRecord";
import { temporaryFolder } from "../../provider/testing/temporaryFolder";
import { MemoryDisk, type Hooks, type ProcessDisk } from "./disk";

const clock = { date: () => new Date() };
const hooks: Hooks = { step: () => undefined, later: (run) => run() };

const contentOf = (disk: Disk, path: string) => disk.read(path, 0).toString();

const kinds = [
  ...(["list", "makeFolder", "stat", "create", "read", "append", "append"] as const),
  ...(["remove", "lock", "testLock", "release", "kill"] as const),
];
const operation = fc.record({
  what: fc.constantFrom(...kinds),
  file: fc.constantFrom("x", "y", "folder/x", "folder/deep/y"),
  folder: fc.constantFrom("", "folder", "folder/deep"),
  process: fc.nat(1),
  pick: fc.nat(9),
  text: fc.constantFrom("", "a line\n", "é", "half a"),
  make: fc.boolean(),
});
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** The result of each operation is its return value, or the code of its error. */
class Process {
  readonly #locks: Lock[] = [];

  constructor(
    readonly home: string,
    readonly disk: Disk & Partial<ProcessDisk>,
  ) {}

  do({ what, pick, text, make, ...names }: Operation): unknown {
    const path = join(this.home, names.file);
    const folder = join(this.home, names.folder);
    const operations = {
      list: () => this.disk.list(folder).sort(),
      makeFolder: () => this.disk.makeFolder(folder),
      stat: () => {
        const { size, mtimeMs = 0 } = this.disk.stat(path) ?? {};
        return { size, isNew: Date.now() - mtimeMs < 60_000 };
      },
      create: () => this.disk.create(path),
      read: () => this.disk.read(path, pick).toString(),
      append: () => this.disk.append(path, text),
      remove: () => this.disk.remove(path),
      lock: () => {
        const lock = this.disk.lock(path, { make, waitMs: 0 });
        if (lock.state === "taken") this.#locks.push(lock);
        return lock.state;
      },
      testLock: () => this.disk.testLock(path),
      release: () => this.#locks.splice(pick % this.#locks.length, 1)[0]?.[Symbol.dispose](),
      kill: () => this.kill(),
    };
    try {
      return operations[what]();
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    }
  }

  kill(): void {
    const locks = this.#locks.splice(0);
    if (this.disk.kill) return this.disk.kill();
    for (const lock of locks) lock[Symbol.dispose]();
  }
}

test("every operation has the same result as on the disk of the system, and the same error code", () => {
  const resultsOf = (home: string, operations: readonly Operation[], next: () => Disk) => {
    next().makeFolder(home);
    const processes = [new Process(home, next()), new Process(home, next())];
    const results: unknown[] = [];
    for (const operation of operations) {
      const process = processes[operation.process] ?? new Process(home, next());
      results.push([operation, process.do(operation)]);
      if (operation.what === "kill") processes[operation.process] = new Process(home, next());
    }
    for (const process of processes) process.kill();
    return results;
  };
  const property = fc.property(fc.array(operation, { size: "large" }), (operations) => {
    const home = temporaryFolder();
    const memory = new MemoryDisk(clock);
    const memoryResults = resultsOf(home, operations, () => memory.processDisk(hooks));
    expect(memoryResults).toEqual(resultsOf(home, operations, () => systemDisk));
  });
  fc.assert(property, { seed: 1, numRuns: 150 });
});

/** Returns a disk whose file /folder/x has one synced line. */
async function diskWithLine(more: Partial<Hooks> = {}) {
  const memory = new MemoryDisk(clock);
  const disk = memory.processDisk(hooks);
  disk.makeFolder("/folder");
  disk.create("/folder/x");
  disk.append("/folder/x", "synced\n");
  await Promise.all([disk.sync("/folder/x"), disk.syncFolder("/folder")]);
  disk.kill();
  return { memory, disk: memory.processDisk({ ...hooks, ...more }) };
}

/** Returns every result of `see` that is possible after a power cut. */
function afterPowerCut(memory: MemoryDisk, see: (disk: Disk) => string): string[] {
  const seen = Array.from({ length: 200 }, (_, n) => {
    const copy = memory.copy();
    let x = n * 10_000_019;
    copy.powerCut(() => (x = (x * 16_807 + 1) % 2_147_483_647) / 2_147_483_647);
    return see(copy.processDisk(hooks));
  });
  return [...new Set(seen)].sort();
}

test("a power cut keeps what was synced, and any part of what was appended later", async () => {
  const { memory, disk } = await diskWithLine();
  disk.append("/folder/x", "é\n");
  const see = (disk: Disk) => contentOf(disk, "/folder/x").slice("synced\n".length);
  expect(afterPowerCut(memory, see)).toEqual(["", "é", "é\n", "\ufffd"]);
});

test("files that were made or removed since the last sync of a folder may be as they were before", async () => {
  const { memory, disk } = await diskWithLine();
  disk.remove("/folder/x");
  disk.create("/folder/y");
  await disk.sync("/folder/y");
  const see = (disk: Disk) => disk.list("/folder").sort().join();
  expect(afterPowerCut(memory, see)).toEqual(["", "x", "x,y", "y"]);
  await disk.syncFolder("/folder");
  expect(afterPowerCut(memory, see)).toEqual(["y"]);
  memory.powerCut(() => 0);
  memory.processDisk(hooks).create("/folder/z");
  expect(afterPowerCut(memory, see)).toEqual(["y", "y,z"]);
});

test("a sync that has ended keeps what was appended before it began, and the sync of a dead process never ends", async () => {
  const ends: (() => void)[] = [];
  const { memory, disk } = await diskWithLine({ later: (run) => void ends.push(run) });
  const see = (disk: Disk) => contentOf(disk, "/folder/x").replace("synced\n", "");
  let ended = 0;
  const sync = () => disk.sync("/folder/x").then(() => ended++);
  disk.append("/folder/x", "1");
  const first = sync();
  disk.append("/folder/x", "2");
  expect(afterPowerCut(memory, see)).toEqual(["", "1", "12"]);
  ends.shift()?.();
  await first;
  expect(afterPowerCut(memory, see)).toEqual(["1", "12"]);
  void sync();
  disk.kill();
  ends.shift()?.();
  await new Promise(setImmediate);
  expect(afterPowerCut(memory, see)).toEqual(["1", "12"]);
  expect(ended).toBe(1);
});

test("a sync that ends late does not undo a sync that began after it", async () => {
  const ends: (() => void)[] = [];
  const { memory, disk } = await diskWithLine({ later: (run) => void ends.push(run) });
  const sync = () => void Promise.all([disk.sync("/folder/x"), disk.syncFolder("/folder")]);
  sync();
  disk.append("/folder/x", "1");
  disk.create("/folder/y");
  sync();
  for (const end of ends.reverse()) end();
  const see = (disk: Disk) => contentOf(disk, "/folder/x") + disk.list("/folder").sort().join();
  expect(afterPowerCut(memory, see)).toEqual(["synced\n1x,y"]);
});

test("a process that is killed at a step changes nothing afterwards, and holds no lock", async () => {
  let next: Error | undefined;
  const step = () => {
    if (next) throw next;
  };
  const { memory, disk } = await diskWithLine({ step, partial: () => 0.5 });
  const other = memory.processDisk(hooks);
  const options = { make: true, waitMs: 0 };
  const lock = disk.lock("/folder/lock", options);
  next = Object.assign(new Error("no space left"), { code: "ENOSPC" });
  expect(() => disk.append("/folder/x", "full")).toThrow("no space left");
  expect(disk.lock("/folder/other", options).state).toBe("failed");
  next = undefined;
  disk.append("/folder/x", "\n");
  expect(other.lock("/folder/lock", options).state).toBe("held");

  next = new Error("killed");
  expect(() => disk.append("/folder/x", "dead")).toThrow("killed");
  next = undefined;
  expect(() => disk.append("/folder/x", "ghost")).toThrow("the process is dead");
  expect(() => disk.create("/folder/y")).toThrow("the process is dead");
  disk.remove("/folder/x");
  await expect(disk.syncFolder("/folder")).rejects.toThrow("the process is dead");
  expect(contentOf(other, "/folder/x")).toBe("synced\nfu\nde");
  expect(other.lock("/folder/lock", options).state).toBe("taken");
  lock[Symbol.dispose]();
  expect(other.lock("/folder/lock", options).state).toBe("held");
});

test.each([
  { random: 0, expected: ["sending"] },
  { random: 0.9999, expected: ["sending", "accepted"] },
])(
  "after a power cut at any step, the ledger finds a record that `begin` has written (G1; random $random)",
  async ({ random, expected }) => {
    const stages = new Set<string | undefined>();
    for (let stop = 1; stop <= 20; stop++) {
      const memory = new MemoryDisk(clock);
      const ledgerOn = (sessionId: string, disk: Disk) =>
        new Ledger("/home/ledger", sessionId, () => undefined, clock, disk);
      let steps = 0;
      const step = () => {
        if (++steps === stop) throw new Error("stopped");
      };
      const ledger = ledgerOn("one", memory.processDisk({ ...hooks, step }));
      const key = await ledger.begin(newRecord("web"));
      const isBegun = steps < stop;
      ledger.move(key, { stage: "accepted", id: "i-1" });
      await ledger.close();
      memory.powerCut(() => random);
      const [entry] = ledgerOn("two", memory.processDisk(hooks)).read();
      if (!isBegun) continue;
      expect(entry).toMatchObject({ record: { key }, liveness: "dead" });
      stages.add(entry?.record.stage);
    }
    expect([...stages]).toEqual(expected);
  },
);
