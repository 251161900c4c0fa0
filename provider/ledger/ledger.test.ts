/** Tests which records of creates the ledger keeps, for this session and for later ones. */
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { leaveOpen, ledgerRecord, newRecord } from "../testing/ledgerRecord";
import { temporaryFolder } from "../testing/temporaryFolder";
import { systemDisk, type Disk, type Lock } from "./disk";
import { Ledger, type KnownRun } from "./ledger";
import { isContested, isInFlight, type LedgerRecord } from "./record";

const dayMs = 24 * 60 * 60 * 1000;

/** Makes a ledger folder in which a test can open any number of sessions. */
function makeLedgerFolder(home = temporaryFolder()) {
  const folder = join(home, "compute", "ledger");
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  let sessionCount = 0;
  /** The clock stands between two sessions, so that no test depends on how long its steps take. */
  let now = Date.now();
  let pauseMs = 1;
  const clock = { date: () => new Date(now) };
  return {
    folder,
    warnings,
    /** Opens the ledger in a new session, with the id s1, s2 and so on. */
    openSession: (disk: Disk = systemDisk, run?: () => KnownRun) => {
      now += pauseMs;
      return new Ledger(folder, `s${++sessionCount}`, warn, clock, disk, run);
    },
    /** Sets the time that passes before each session begins. */
    setPause: (ms: number) => void (pauseMs = ms),
    /** The records as a new session reads them. */
    get records(): LedgerRecord[] {
      return this.openSession()
        .read()
        .map(({ record }) => record);
    },
    /** Leaves the record of a dead session. Returns it and the path of its file. */
    async leave(...args: [resource: string, more?: Parameters<typeof leaveOpen>[2]]) {
      const record = await leaveOpen(folder, ...args);
      return { record, key: record.key, file: join(folder, `${record.session}.jsonl`) };
    },
    passDays: (days: number) => void (now += days * dayMs),
    files: () => readdirSync(folder).sort(),
    content: (name: string) => readFileSync(join(folder, name), "utf8"),
  };
}

let shared: ReturnType<typeof makeLedgerFolder>;
beforeEach(() => {
  shared = makeLedgerFolder();
});

/** Returns a new record with the present time. */
const recent = (resource: string) => newRecord(resource, { at: new Date().toISOString() });

/** The import of the instance of a new record. */
const importOf = (resource: string, id: string) => {
  const record = newRecord(resource);
  const { scope, urn, name } = record;
  const isOnlyOneOf = ({ before }: LedgerRecord) => !before.includes(id);
  return { place: record, scope, urn, id, names: [name], isOnlyOneOf };
};

/** The session reads its records, and takes the one with this key over, if it can. */
function takeOver(ledger: Ledger, key: string): boolean {
  const entry = ledger.read().find(({ record }) => record.key === key);
  return entry !== undefined && ledger.take(entry.record);
}

/** A disk whose syncs end only when the test resolves them. `lines` has what was appended. */
function slowDisk() {
  const lines: string[] = [];
  const syncs: PromiseWithResolvers<void>[] = [];
  const disk: Disk = {
    ...systemDisk,
    append(path, added) {
      lines.push(added);
      systemDisk.append(path, added);
    },
    sync() {
      const sync = Promise.withResolvers<void>();
      syncs.push(sync);
      return sync.promise;
    },
  };
  return { ...disk, lines, syncs };
}

/** A lock that was not taken. */
const lockAttempt = (state: Lock["state"]): Lock => ({ state, [Symbol.dispose]: () => undefined });

/** Lets pending callbacks run. */
const settlePromises = () => new Promise((resolve) => setImmediate(resolve));

test("a record is on the disk before `begin` resolves, and its later stages are written at once", async () => {
  const disk = slowDisk();
  const ledger = shared.openSession(disk);
  let key: string | undefined;
  const begun = ledger.begin(newRecord("web")).then((begun) => (key = begun));
  await settlePromises();
  expect(disk.lines.join("")).toContain('"stage":"sending"');
  expect(disk.syncs).toHaveLength(1);
  expect(key).toBeUndefined();
  disk.syncs[0]?.resolve();
  expect(await begun).toBe("s1-1");

  ledger.move("s1-1", { stage: "accepted", id: "i-1" });
  expect(shared.records).toEqual([
    { ...ledgerRecord("web", { session: "s1", key: "s1-1" }), stage: "accepted", id: "i-1" },
  ]);
  expect(disk.syncs).toHaveLength(1);
  expect(shared.warnings).toEqual([]);
});

test("an import changes only the pending record of its instance to `replied`, and `markDelivered` does not change that record", async () => {
  await shared.leave("web", { stage: "accepted", id: "i-1" });
  await shared.leave("db", { stage: "unknown" });
  await shared.leave("other", { stage: "unknown", name: "db" });
  const alive = shared.openSession();
  alive.move(await alive.begin(newRecord("busy")), { stage: "accepted", id: "i-3" });
  const ledger = shared.openSession();
  const imported = (resource: string, id: string, name: string) =>
    ledger.markImported({ ...importOf(resource, id), names: [name] });
  imported("alias", "i-1", "web");
  imported("db", "i-2", "db");
  imported("busy", "i-3", "busy");
  ledger.markDelivered();
  const summaries = shared.records.map(({ urn, stage, id }) => [urn.split("::").at(-1), stage, id]);
  expect(summaries.sort()).toEqual([
    ["busy", "accepted", "i-3"],
    ["db", "replied", "i-2"],
    ["other", "unknown", undefined],
    ["web", "replied", "i-1"],
  ]);
});

test("an import under another URN, as after a rename with an alias, changes the record of the same scope and name", async () => {
  const left: Record<string, Partial<LedgerRecord>> = {
    "other scope": { scope: "another" },
    "no scope": { scope: undefined },
    known: { id: "i-0" },
    "found before": { before: ["i-1", "i-2"] },
    web: {},
    "also web": {},
  };
  for (const [resource, more] of Object.entries(left)) {
    await shared.leave(resource, { ...more, stage: "unknown", name: "host" });
  }
  const names = ["host"];
  const replied = () =>
    shared.records.filter(({ stage }) => stage === "replied").map(({ urn }) => urn);
  const ledger = shared.openSession();
  ledger.markImported({ ...importOf("www", "i-1"), scope: undefined, names });
  ledger.markImported({ ...importOf("www", "i-1"), names: ["another name"] });
  expect(replied()).toEqual([]);
  await shared.leave("www", { scope: "another", stage: "unknown", name: "host" });
  ledger.markImported({ ...importOf("www", "i-1"), names });
  expect(replied()).toEqual([newRecord("www").urn]);
  ledger.markImported({ ...importOf("www", "i-2"), names });
  expect(replied()).toHaveLength(2);
  expect(replied()).toContainEqual(expect.stringMatching(/::(also )?web$/));
});

test("an import changes one of several records with its name, and none of a create that found the instance already", async () => {
  const killed = shared.openSession();
  await killed.begin({ ...newRecord("web"), before: ["i-1"] });
  await killed.begin(newRecord("web"));
  await killed.begin(newRecord("web"));
  await killed.close();
  const ledger = shared.openSession();
  for (let time = 0; time < 2; time++) {
    ledger.markImported(importOf("web", "i-1"));
    expect(shared.records.map(({ id }) => id)).toEqual([undefined, "i-1", undefined]);
  }
});

test("300 creates that begin at once share one sync, and creates that begin during the sync share the next one", async () => {
  const disk = slowDisk();
  const ledger = shared.openSession(disk);
  const begin = () => Array.from({ length: 300 }, (_, n) => ledger.begin(newRecord(`web${n}`)));
  const first = begin();
  await settlePromises();
  const second = begin();
  await settlePromises();
  expect(disk.syncs).toHaveLength(1);
  disk.syncs[0]?.resolve();
  expect(new Set(await Promise.all(first)).size).toBe(300);
  await settlePromises();
  expect(disk.syncs).toHaveLength(2);
  disk.syncs[1]?.resolve();
  await Promise.all(second);
  expect(disk.syncs).toHaveLength(2);
});

test("the end of a session waits for a record that is being written", async () => {
  const disk = slowDisk();
  const ledger = shared.openSession(disk);
  const begun = ledger.begin(newRecord("web"));
  let isClosed = false;
  const closed = ledger.close().then(() => (isClosed = true));
  await settlePromises();
  expect(isClosed).toBe(false);
  disk.syncs[0]?.resolve();
  await Promise.all([begun, closed, ledger.close()]);
});

test.each(["the write", "the sync"])(
  "if %s fails, one warning says what that means, and the run goes on with its own records",
  async (what) => {
    const fail = () => {
      throw new Error("ENOSPC: no space left on device");
    };
    let syncs = 0;
    const sync = async () => (syncs++, fail());
    const ledger = shared.openSession({
      ...systemDisk,
      ...(what === "the write" ? { append: fail } : { sync }),
    });
    const keys = [await ledger.begin(recent("a")), await ledger.begin(recent("b"))];
    expect(syncs).toBe(what === "the write" ? 0 : 2);
    ledger.move(keys[0] ?? "", { stage: "replied", id: "i-1" });
    expect(shared.warnings).toEqual([
      expect.stringMatching(
        /can't be written \(ENOSPC.*the next run will not find that out.*PULUMI_HOME/,
      ),
    ]);
    expect(ledger.read()).toMatchObject([
      { record: { name: "a", stage: "replied", id: "i-1" }, liveness: "alive" },
      { record: { name: "b", stage: "sending" }, liveness: "alive" },
    ]);
    ledger.markDelivered();
    expect(ledger.read()[0]).toMatchObject({ record: { stage: "delivered" } });
    await ledger.close();
    expect(shared.warnings).toHaveLength(1);
  },
);

test("a line that was written only in part damages no other line", async () => {
  let goodWrites = 1;
  const ledger = shared.openSession({
    ...systemDisk,
    append(path, lines) {
      if (goodWrites-- > 0) return systemDisk.append(path, lines);
      systemDisk.append(path, lines.slice(0, 20));
      throw new Error("ENOSPC");
    },
  });
  await ledger.begin(newRecord("a"));
  await ledger.begin(newRecord("b"));
  goodWrites = 2;
  await ledger.begin(newRecord("c"));
  ledger.move("s1-2", { stage: "unknown" });
  expect(shared.records.map(({ name, stage }) => [name, stage])).toEqual([
    ["a", "sending"],
    ["b", "unknown"],
    ["c", "sending"],
  ]);
});

/** A disk on which nothing can be made or appended while `isFull`. Of a line, it then writes the first `partial` characters. */
function fillableDisk(partial = 0) {
  const state = { isFull: false };
  const fail = () => {
    if (state.isFull) throw new Error("ENOSPC: no space left on device");
  };
  const disk: Disk = {
    ...systemDisk,
    makeFolder: (folder) => (fail(), systemDisk.makeFolder(folder)),
    create: (path) => (fail(), systemDisk.create(path)),
    append(path, lines) {
      if (state.isFull && partial > 0) systemDisk.append(path, lines.slice(0, partial));
      fail();
      systemDisk.append(path, lines);
    },
  };
  return Object.assign(state, { disk });
}

/** The stage of each record as a later session reads it. */
const stagesByName = () =>
  Object.fromEntries(shared.records.map(({ name, stage }) => [name, stage]));

test("a record that could not be written is written with the next change of any record, and the one warning stays one", async () => {
  const { key } = await shared.leave("taken", { stage: "unknown" });
  const disk = fillableDisk();
  const ledger = shared.openSession(disk.disk);
  expect(takeOver(ledger, key)).toBe(true);
  const web = await ledger.begin(newRecord("web"));
  disk.isFull = true;
  ledger.move(key, { stage: "accepted", id: "i-1" });
  ledger.move(web, { stage: "accepted", id: "i-2" });
  ledger.move(web, { stage: "replied" });
  expect(ledger.settle(await ledger.begin(newRecord("db")), "absent")).toBe(true);
  expect(stagesByName()).toEqual({ taken: "unknown", web: "sending" });
  disk.isFull = false;
  await ledger.begin(newRecord("next"));
  expect(stagesByName()).toEqual({
    taken: "accepted",
    web: "replied",
    db: "settled",
    next: "sending",
  });
  const written = shared.content("s1.jsonl");
  ledger.move(web, { ended: true });
  expect(shared.content("s1.jsonl").slice(written.length).match(/\n/g)).toHaveLength(1);
  expect(shared.warnings).toEqual([expect.stringContaining("can't be written (ENOSPC")]);
});

test.each(["a move", "`markDelivered`", "`close`"])(
  "if the ledger could not be made at first, %s makes it and writes the records",
  async (what) => {
    const disk = fillableDisk();
    disk.isFull = true;
    const ledger = shared.openSession(disk.disk);
    const key = await ledger.begin(newRecord("web"));
    ledger.move(key, { stage: "accepted", id: "i-1" });
    expect(() => shared.files()).toThrow("ENOENT");
    disk.isFull = false;
    if (what === "a move") ledger.move(key, { ended: true });
    if (what === "`markDelivered`") ledger.markDelivered();
    if (what === "`close`") await ledger.close();
    expect(shared.records).toMatchObject([{ name: "web", stage: "accepted", id: "i-1" }]);
    expect(shared.warnings).toHaveLength(1);
  },
);

test("what another session has changed since is not overwritten with what could not be written", async () => {
  const disk = fillableDisk();
  const ledger = shared.openSession(disk.disk);
  const keys = [];
  for (const name of ["taken", "settled"]) {
    const key = await ledger.begin(newRecord(name));
    ledger.move(key, { stage: "unknown", ended: true });
    keys.push(key);
  }
  disk.isFull = true;
  for (const key of keys) ledger.move(key, { stage: "accepted", id: "i-1" });
  disk.isFull = false;
  const other = shared.openSession();
  expect(takeOver(other, keys[0] ?? "")).toBe(true);
  expect(other.settle(keys[1] ?? "", "discarded")).toBe(true);
  const written = shared.content("s1.jsonl");
  await ledger.begin(newRecord("next"));
  expect(shared.content("s1.jsonl").slice(written.length).match(/\n/g)).toHaveLength(1);
  expect(stagesByName()).toEqual({ taken: "unknown", settled: "settled", next: "sending" });
  expect(shared.records.find(({ name }) => name === "taken")).toMatchObject({ owner: "s2" });
});

test("a line that was cut off by a full disk and written anew does not count as damaged", async () => {
  const disk = fillableDisk(20);
  const ledger = shared.openSession(disk.disk);
  const key = await ledger.begin(newRecord("web"));
  disk.isFull = true;
  ledger.move(key, { stage: "replied", id: "i-1" });
  disk.isFull = false;
  await ledger.close();
  expect(shared.records).toMatchObject([{ stage: "replied", id: "i-1" }]);
  expect(shared.warnings).toEqual([expect.stringContaining("can't be written (ENOSPC")]);
});

test("a home in which no ledger can be made causes one warning", async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "compute"), "a file where the folder would be");
  const { openSession, warnings } = makeLedgerFolder(home);
  const ledger = openSession();
  expect(ledger.read()).toEqual([]);
  const key = await ledger.begin(newRecord("a"));
  ledger.move(key, { stage: "accepted", id: "i-1", ended: true });
  expect(takeOver(ledger, key)).toBe(true);
  ledger.settleId(newRecord("a"), "i-1", "gone");
  expect(ledger.settle("other-1", "gone")).toBe(false);
  expect(ledger.take(ledgerRecord("other"))).toBe(false);
  expect(ledger.read()).toMatchObject([{ record: { settled: "gone" } }]);
  await ledger.close();
  expect(warnings).toEqual([expect.stringContaining("can't be written")]);
});

test("an unreadable folder causes a warning that says what that means", () => {
  const home = temporaryFolder();
  mkdirSync(join(home, "compute"));
  symlinkSync("ledger", join(home, "compute", "ledger"));
  const { openSession, warnings } = makeLedgerFolder(home);
  const ledger = openSession();
  expect([ledger.read(), ledger.read()]).toEqual([[], []]);
  expect(warnings).toEqual([expect.stringContaining("can't be read (ELOOP")]);
});

test("a session that only reads makes no files", async () => {
  const ledger = shared.openSession();
  ledger.read();
  ledger.settleId(newRecord("web"), "i-1", "state");
  ledger.markDelivered();
  await ledger.close();
  expect(() => statSync(shared.folder)).toThrow("ENOENT");
  await shared.leave("web");
  const before = shared.files();
  shared.openSession().read();
  expect(shared.files()).toEqual(before);
  expect(shared.warnings).toEqual([]);
});

test("a file holds its records as JSON that only the user can read", async () => {
  const { openSession, folder, files, content } = shared;
  const key = await openSession().begin(newRecord("web"));
  expect(JSON.parse(content("s1.jsonl"))).toEqual(ledgerRecord("web", { session: "s1", key }));
  expect(files()).toEqual(["common.lock", "s1.jsonl", "s1.lock"]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const file of files()) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
});

const ofAnotherSession = JSON.stringify(ledgerRecord("x", { session: "another" }));
test.each(["{", "null", "[]", '{"urn": 1}', "\u0000\u0001", "x\ny\nz", ofAnotherSession])(
  "lines that are %j are ignored, with one warning",
  async (garbage) => {
    const { record, key, file } = await shared.leave("one");
    appendFileSync(file, `${garbage}\n`);
    const ledger = shared.openSession();
    for (let time = 0; time < 2; time++) expect(ledger.read()).toMatchObject([{ record }]);
    expect(shared.warnings).toEqual([
      expect.stringContaining(`can't be read and is ignored: ${file}`),
    ]);
    expect(ledger.settle(key, "gone")).toBe(true);
    expect(shared.records).toMatchObject([{ settled: "gone" }]);
  },
);

test("an incomplete line counts as damaged once its session is dead, and damages no later line", async () => {
  const running = shared.openSession();
  await running.begin(newRecord("running"));
  appendFileSync(join(shared.folder, "s1.jsonl"), '{"key": "s1');
  expect(shared.records).toHaveLength(1);
  expect(shared.warnings).toEqual([]);

  const { file } = await shared.leave("dead", { stage: "unknown" });
  truncateSync(file, statSync(file).size - 9);
  expect(shared.records.map(({ stage }) => stage)).toEqual(["sending", "sending"]);
  expect(shared.warnings).toEqual([expect.stringContaining(file)]);

  const two = await shared.leave("two");
  appendFileSync(two.file, '{"key": ');
  expect(shared.openSession().settle(two.key, "gone")).toBe(true);
  expect(shared.records.find(({ key }) => key === two.key)).toMatchObject({ settled: "gone" });
  // Its lock would end with the garbage collection of an object that nothing refers to any more.
  await running.close();
});

test("a folder in place of a file, and unrelated files, cause no error", async () => {
  const { record } = await shared.leave("one");
  mkdirSync(join(shared.folder, "abc.jsonl", "sub"), { recursive: true });
  writeFileSync(join(shared.folder, "notes.txt"), "x");
  writeFileSync(join(shared.folder, `${"0".repeat(32)}.json`), "{");
  const ledger = shared.openSession();
  for (let time = 0; time < 2; time++) expect(ledger.read()).toMatchObject([{ record }]);
  expect(shared.warnings).toEqual([expect.stringContaining(join(shared.folder, "abc.jsonl"))]);
});

test("a create is in flight while its session lives and its call has not ended", async () => {
  const [one, two] = [shared.openSession(), shared.openSession()];
  const key = await one.begin(newRecord("web"));
  for (const ledger of [one, two]) {
    expect(ledger.read()).toMatchObject([{ liveness: "alive" }]);
    expect(ledger.read().map(isInFlight)).toEqual([true]);
  }
  one.move(key, { stage: "accepted", id: "i-1", ended: true });
  for (const ledger of [one, two]) {
    expect(ledger.read()).toMatchObject([{ liveness: "alive", record: { ended: true } }]);
    expect(ledger.read().map(isInFlight)).toEqual([false]);
  }

  const other = await one.begin(newRecord("other"));
  await one.close();
  expect(two.read().map(({ liveness }) => liveness)).toEqual(["dead", "dead"]);
  one.move(other, { stage: "refused" });
  expect(two.read()[1]).toMatchObject({ record: { stage: "sending" } });
});

test("`take` succeeds only if no call drives the record, and removes `ended`", async () => {
  const [one, two, three] = [shared.openSession(), shared.openSession(), shared.openSession()];
  const key = await one.begin(recent("web"));
  for (const ledger of [one, two]) expect(takeOver(ledger, key)).toBe(false);
  one.move(key, { ended: true });
  expect(takeOver(one, key)).toBe(true);
  expect(one.read()[0]?.record).not.toHaveProperty("ended");
  expect(takeOver(one, key)).toBe(false);
  one.move(key, { stage: "accepted", id: "i-1" });
  await one.close();

  expect(takeOver(two, key)).toBe(true);
  expect(takeOver(three, key)).toBe(false);
  two.move(key, { stage: "replied" });
  two.markDelivered();
  expect(shared.records).toMatchObject([{ key, session: "s1", owner: "s2", stage: "delivered" }]);
});

test("a record that has changed since it was read is not taken over", async () => {
  const { key } = await shared.leave("web", { stage: "unknown" });
  const [one, two] = [shared.openSession(), shared.openSession()];
  const [entry] = one.read();
  expect(takeOver(two, key)).toBe(true);
  two.move(key, { stage: "accepted", id: "i-1" });
  await two.close();
  // A later `read` does not change what the caller knows.
  expect(one.read()).toMatchObject([{ liveness: "dead", record: { id: "i-1" } }]);
  expect(entry && one.take(entry.record)).toBe(false);
  expect(takeOver(one, key)).toBe(true);
});

test("after another session has taken a record over, the first session no longer changes it", async () => {
  const [one, two] = [shared.openSession(), shared.openSession()];
  const key = await one.begin(newRecord("web"));
  one.move(key, { stage: "replied", id: "i-1", ended: true });
  expect(takeOver(two, key)).toBe(true);
  one.markDelivered();
  one.move(key, { stage: "refused" });
  expect(takeOver(one, key)).toBe(false);
  expect(shared.records).toMatchObject([{ stage: "replied", owner: "s2" }]);
});

test.each(["refused", "delivered", "settled"] as const)(
  "a %s record is not taken over",
  async (stage) => {
    const { key } = await shared.leave("web", { stage });
    expect(takeOver(shared.openSession(), key)).toBe(false);
  },
);

test("`settle` writes once to a dead session's file, but not during a live session's call", async () => {
  const [one, two] = [shared.openSession(), shared.openSession()];
  const key = await one.begin(newRecord("web"));
  expect(two.settle(key, "discarded")).toBe(false);
  await one.close();
  const before = shared.content("s1.jsonl");
  expect(two.settle(key, "discarded")).toBe(true);
  expect(two.settle(key, "gone")).toBe(false);
  expect(two.settle("s1-9", "gone")).toBe(false);
  expect(shared.content("s1.jsonl").startsWith(before)).toBe(true);
  expect(shared.records).toMatchObject([{ stage: "settled", settled: "discarded" }]);
  expect(shared.files()).toEqual(["common.lock", "s1.jsonl", "s1.lock"]);
});

test("a settled record stays settled, whatever its session writes afterwards", async () => {
  const one = shared.openSession();
  const key = await one.begin(newRecord("web"));
  one.move(key, { stage: "replied", id: "i-1", ended: true });
  shared.openSession().settleId(newRecord("web"), "i-1", "state");
  one.move(key, { stage: "accepted" });
  one.markDelivered();
  const expected = [{ record: { stage: "settled", settled: "state" } }];
  expect(one.read()).toMatchObject(expected);
  expect(shared.openSession().read()).toMatchObject(expected);
});

test("`settleId` settles all records with the id and place, except what a live session's call drives", async () => {
  const replied = { stage: "replied", id: "i-1" } as const;
  await shared.leave("dead", replied);
  await shared.leave("elsewhere", { ...replied, tokenKind: "live" });
  await shared.leave("another", { ...replied, id: "i-2" });
  const ledger = shared.openSession();
  ledger.move(await ledger.begin(newRecord("own")), { stage: "delivered", id: "i-1" });
  const alive = shared.openSession();
  alive.move(await alive.begin(newRecord("busy")), { stage: "accepted", id: "i-1" });
  ledger.settleId(newRecord("x"), "i-1", "state");
  const written = shared.content("s1.jsonl");
  ledger.settleId(newRecord("x"), "i-1", "state");
  expect(shared.content("s1.jsonl")).toBe(written);
  const settled = shared.records.filter(({ stage }) => stage === "settled");
  expect(settled.map(({ name }) => name).sort()).toEqual(["dead", "own"]);
});

test("`markDelivered` delivers only `replied` records of its session, and a second call writes nothing", async () => {
  await shared.leave("dead", { stage: "replied", id: "i-0" });
  const ledger = shared.openSession();
  const stages = ["sending", "unknown", "accepted", "replied", "refused"] as const;
  for (const stage of stages) ledger.move(await ledger.begin(recent(stage)), { stage });
  ledger.markDelivered();
  const written = shared.content("s1.jsonl");
  ledger.markDelivered();
  expect(shared.content("s1.jsonl")).toBe(written);
  const changed = shared.records.filter(({ name, stage }) => name !== stage);
  expect(changed.map(({ name, stage }) => [name, stage]).sort()).toEqual([
    ["dead", "replied"],
    ["replied", "delivered"],
  ]);
});

test("a delivered record stays delivered, since its age proves nothing", async () => {
  await shared.leave("web", { stage: "delivered" });
  shared.passDays(1000);
  expect(shared.records).toMatchObject([{ stage: "delivered" }]);
});

test.each([
  ["test", { stage: "delivered" }, 30],
  ["test", { stage: "settled", settled: "state" }, 30],
  ["live", { stage: "delivered" }, 365],
  ["live", { stage: "settled", settled: "state" }, 365],
  ["live", { stage: "settled", settled: "dropped" }, 365],
  ["live", { stage: "settled", settled: "discarded" }, 365],
  ["live", { stage: "settled", settled: "gone" }, 7],
  ["live", { stage: "settled", settled: "absent" }, 7],
  ["live", { stage: "refused" }, 7],
  ["test", { stage: "replied" }, Infinity],
  ["live", { stage: "delivered", contested: true }, Infinity],
] as const)(
  "the record of a %s token and a dead session, with %j, is kept for %d days",
  async (tokenKind, progress, days) => {
    await shared.leave("web", { tokenKind, ...progress, id: "i-1" });
    const isKeptLater = async () => {
      await shared.openSession().begin(newRecord("later"));
      return shared.records.some(({ name }) => name === "web");
    };
    shared.passDays(Math.min(days, 10_000) - 1);
    expect(await isKeptLater()).toBe(true);
    shared.passDays(2);
    expect(await isKeptLater()).toBe(days === Infinity);
  },
);

test("a file is removed only if its session is dead and all its records are, and a damaged one is kept for 30 days", async () => {
  const at = new Date().toISOString();
  const alive = shared.openSession();
  alive.move(await alive.begin(newRecord("alive")), { stage: "refused" });
  await shared.leave("open", { stage: "unknown" });
  await shared.leave("delivered", { stage: "delivered", at });
  await shared.leave("settled", { stage: "settled", settled: "gone", id: "i-1" });
  await shared.leave("refused", { stage: "refused" });
  appendFileSync((await shared.leave("damaged", { stage: "refused" })).file, "{\n");
  appendFileSync((await shared.leave("cut off", { stage: "refused" })).file, "{");
  const namesLater = async () => {
    const later = shared.openSession();
    later.move(await later.begin(newRecord("later")), { stage: "refused" });
    await later.close();
    const names = shared.records.map(({ name }) => name);
    return names.filter((name) => name !== "later").sort();
  };
  const kept = ["alive", "cut off", "damaged", "delivered", "open"];
  shared.passDays(6);
  expect(await namesLater()).toEqual([...kept, "refused", "settled"]);
  shared.passDays(2);
  expect(await namesLater()).toEqual(kept);
  shared.passDays(30);
  expect(await namesLater()).toEqual(["alive", "open"]);
  // The locks of the two sessions, of the last session, and the common lock.
  expect(shared.files().filter((name) => name.endsWith(".lock"))).toHaveLength(4);
});

test("a lock whose session was killed while it removed a file is removed after 7 days, but no lock that is held", async () => {
  const { file, key } = await shared.leave("web", { stage: "settled", settled: "state" });
  const left = key.replace(/-\d+$/, ".lock");
  const alive = shared.openSession();
  alive.move(await alive.begin(newRecord("alive")), { stage: "refused" });
  // As after a kill between the two steps of a removal.
  rmSync(file);
  rmSync(join(shared.folder, "s1.jsonl"));
  const locksLater = async () => {
    const later = shared.openSession();
    later.move(await later.begin(newRecord("later")), { stage: "refused" });
    await later.close();
    return shared.files().filter((name) => name === left || name === "s1.lock");
  };
  shared.passDays(6);
  expect(await locksLater()).toEqual([left, "s1.lock"].sort());
  shared.passDays(2);
  expect(await locksLater()).toEqual(["s1.lock"]);
  expect(shared.warnings).toEqual([]);
});

test("whether a session is alive that could not take its lock is unknown, and its record is not taken over", async () => {
  const lock: Disk["lock"] = (path) => {
    writeFileSync(path, "");
    return lockAttempt("failed");
  };
  const key = await shared.openSession({ ...systemDisk, lock }).begin(newRecord("web"));
  const ledger = shared.openSession();
  expect(ledger.read()).toMatchObject([{ liveness: "unknown" }]);
  expect(takeOver(ledger, key)).toBe(false);
  expect(ledger.settle(key, "discarded")).toBe(true);
  expect(ledger.read()).toMatchObject([{ record: { settled: "discarded" } }]);
});

test("a session that could not take its own lock takes no record over", async () => {
  const { key } = await shared.leave("web", { stage: "unknown" });
  const lock: Disk["lock"] = (path, options) =>
    path.endsWith("s1.lock") ? lockAttempt("failed") : systemDisk.lock(path, options);
  expect(takeOver(shared.openSession({ ...systemDisk, lock }), key)).toBe(false);
  expect(takeOver(shared.openSession(), key)).toBe(true);
});

test("if files can't be locked, everything works except taking other sessions' records over", async () => {
  const { key } = await shared.leave("web", { stage: "unknown" });
  const ledger = shared.openSession({
    ...systemDisk,
    lock: () => lockAttempt("failed"),
    testLock: () => "failed",
  });
  const own = await ledger.begin(newRecord("own"));
  expect(ledger.read().find(({ record }) => record.key === key)?.liveness).toBe("unknown");
  expect(takeOver(ledger, key)).toBe(false);
  ledger.move(own, { ended: true });
  expect(takeOver(ledger, own)).toBe(true);
  expect(ledger.settle(key, "gone")).toBe(true);
  await ledger.close();
  expect(shared.records.map(({ name, settled }) => `${name} ${settled}`).sort()).toEqual([
    "own undefined",
    "web gone",
  ]);
  expect(shared.warnings).toEqual([]);
});

test("while another process holds the common lock, nothing changes, and only the first attempt to change something waits", async () => {
  const { key } = await shared.leave("web", { stage: "unknown" });
  const waits: number[] = [];
  const ledger = shared.openSession({
    ...systemDisk,
    lock(path, options) {
      if (!path.endsWith("common.lock")) return systemDisk.lock(path, options);
      waits.push(options.waitMs);
      return lockAttempt("held");
    },
  });
  expect(ledger.read()).toMatchObject([{ liveness: "dead" }]);
  expect(takeOver(ledger, key)).toBe(false);
  expect(ledger.settle(key, "gone")).toBe(false);
  expect(shared.records).toMatchObject([{ stage: "unknown" }]);
  expect(waits.shift()).toBe(0); // To remove old files.
  expect(waits[0]).toBeGreaterThan(0);
  expect(new Set(waits.slice(1))).toEqual(new Set([0]));
});

/** A disk that notes the name of each lock that is taken or tested, and how long the attempt may wait. */
function lockRecorder() {
  const taken: { name: string; waitMs: number }[] = [];
  const tested: string[] = [];
  const disk: Disk = {
    ...systemDisk,
    lock(path, options) {
      taken.push({ name: basename(path), waitMs: options.waitMs });
      return systemDisk.lock(path, options);
    },
    testLock(path) {
      tested.push(basename(path));
      return systemDisk.testLock(path);
    },
  };
  return { disk, taken, tested };
}

/** Holds the common lock, as a process does that was stopped at the wrong moment. */
function holdCommonLock(): Lock {
  const lock = systemDisk.lock(join(shared.folder, "common.lock"), { make: true, waitMs: 0 });
  expect(lock.state).toBe("taken");
  return lock;
}

test("`read` takes no lock: it knows who is alive while a stopped process holds the common lock", async () => {
  const owner = shared.openSession();
  await owner.begin(newRecord("alive"));
  await shared.leave("dead", { stage: "unknown" });
  using _held = holdCommonLock();
  const { disk, taken } = lockRecorder();
  const entries = shared.openSession(disk).read();
  expect(new Map(entries.map(({ record, liveness }) => [record.name, liveness]))).toEqual(
    new Map([
      ["alive", "alive"],
      ["dead", "dead"],
    ]),
  );
  expect(taken).toEqual([]);
});

test("a session that begins its first record does not wait for a stopped process that holds the common lock", async () => {
  await shared.leave("old", { stage: "refused" });
  shared.passDays(8);
  const { disk, taken } = lockRecorder();
  {
    using _held = holdCommonLock();
    await shared.openSession(disk).begin(newRecord("web"));
  }
  // The common lock, to remove old files. Its own lock may be under test, which takes a moment.
  expect(taken).toEqual([
    { name: "s1.lock", waitMs: 1000 },
    { name: "common.lock", waitMs: 0 },
  ]);
  expect(shared.records.map(({ name }) => name).sort()).toEqual(["old", "web"]);
  // The next session removes what this one had to leave.
  await shared.openSession().begin(newRecord("db"));
  expect(shared.records.map(({ name }) => name).sort()).toEqual(["db", "web"]);
});

test("to read many pending records of a live session, its lock is tested once", async () => {
  const owner = shared.openSession();
  for (const resource of ["a", "b", "c"]) await owner.begin(newRecord(resource));
  const { disk, tested } = lockRecorder();
  expect(shared.openSession(disk).read()).toHaveLength(3);
  expect(tested).toEqual(["s1.lock"]);
});

test("an owner whose files were removed counts as dead", async () => {
  const { key } = await shared.leave("web", { stage: "unknown" });
  const one = shared.openSession();
  expect(takeOver(one, key)).toBe(true);
  await one.close();
  for (const name of ["s1.jsonl", "s1.lock"]) rmSync(join(shared.folder, name));
  expect(shared.openSession().read()).toMatchObject([
    { record: { owner: "s1" }, liveness: "dead" },
  ]);
});

test("a file that was removed while a session used it does not come back, and causes one warning", async () => {
  const { key, file } = await shared.leave("web", { stage: "unknown" });
  const ledger = shared.openSession();
  expect(takeOver(ledger, key)).toBe(true);
  rmSync(file);
  ledger.move(key, { stage: "accepted", id: "i-1" });
  ledger.move(key, { stage: "replied" });
  expect(ledger.read()).toMatchObject([{ record: { stage: "replied", id: "i-1", owner: "s1" } }]);
  expect(() => statSync(file)).toThrow("ENOENT");
  expect(shared.warnings).toEqual([expect.stringContaining("can't be written (ENOENT")]);
});

test("a session that has ended warns if it is asked to begin a record", async () => {
  const { openSession, warnings } = shared;
  const ledger = openSession();
  await ledger.begin(newRecord("web"));
  await ledger.close();
  expect(await ledger.begin(newRecord("web"))).toBe("s1-2");
  expect(warnings).toEqual([expect.stringContaining("can't be written (the run has ended)")]);
});

test("a session whose lock can't be tested for a moment does not count as dead, even if its file is new", async () => {
  const { key } = await shared.leave("web", { stage: "unknown" });
  const newOwner = shared.openSession();
  let isHard = true;
  const ledger = shared.openSession({
    ...systemDisk,
    list(folder) {
      const names = systemDisk.list(folder);
      if (isHard) takeOver(newOwner, key);
      return names;
    },
    testLock: (path) => (isHard && path.endsWith("s1.lock") ? "failed" : systemDisk.testLock(path)),
  });
  expect(ledger.read()).toMatchObject([{ liveness: "unknown" }]);
  isHard = false;
  expect(ledger.read()).toMatchObject([{ liveness: "alive" }]);
  expect(takeOver(ledger, key)).toBe(false);
});

// --- contested: two runs of one stack were under way together, and each engine may have saved its own state ---

/** The stage of each record by name, with "contested" if it is marked. */
const marksByName = () =>
  Object.fromEntries(
    shared.records.map(({ name, stage, contested }) => [
      name,
      contested ? `${stage}, contested` : stage,
    ]),
  );

test("a mark as contested stays through the changes of a live owner, which has not read it", async () => {
  const owner = shared.openSession();
  const key = await owner.begin(newRecord("web"));
  shared.openSession().contest(key);
  expect(marksByName()).toEqual({ web: "sending, contested" });
  owner.move(key, { stage: "accepted", id: "i-1" });
  owner.move(key, { stage: "replied" });
  expect(marksByName()).toEqual({ web: "replied, contested" });
  owner.markDelivered();
  await owner.close();
  expect(shared.records).toMatchObject([
    { stage: "delivered", id: "i-1", deliveredAt: expect.any(String) },
  ]);
  expect(shared.records.map(isContested)).toEqual([true]);
  expect(shared.warnings).toEqual([]);
});

test("a mark loses no change that its owner makes at the same moment", async () => {
  const owner = shared.openSession();
  const key = await owner.begin(newRecord("web"));
  const other = shared.openSession({
    ...systemDisk,
    append(path, lines) {
      owner.move(key, { stage: "accepted", id: "i-1" });
      systemDisk.append(path, lines);
    },
  });
  other.contest(key);
  expect(shared.records).toMatchObject([{ stage: "accepted", id: "i-1", contested: true }]);
});

test("a mark ends when another session takes the record over, also if it is written after that", async () => {
  const { key, record } = await shared.leave("web", { stage: "accepted", id: "i-1" });
  shared.openSession().contest(key);
  const taker = shared.openSession();
  expect(takeOver(taker, key)).toBe(true);
  expect(marksByName()).toEqual({ web: "accepted" });
  const late = JSON.stringify({ contested: key, owner: record.owner, by: "late", at: "2026" });
  appendFileSync(join(shared.folder, `${record.session}.jsonl`), `${late}\n`);
  expect(marksByName()).toEqual({ web: "accepted" });
  taker.move(key, { stage: "replied" });
  expect(marksByName()).toEqual({ web: "replied" });
});

test("a record that was read before it was marked can still be taken over", async () => {
  const { key } = await shared.leave("web", { stage: "accepted", id: "i-1" });
  const taker = shared.openSession();
  const [entry] = taker.read();
  taker.contest(key);
  expect(entry && taker.take(entry.record)).toBe(true);
  expect(marksByName()).toEqual({ web: "accepted" });
});

test("only pending and delivered records are marked, once each, and a mark of an unknown record is harmless", async () => {
  const { key, file } = await shared.leave("delivered", { stage: "delivered", id: "i-1" });
  await shared.leave("settled", { stage: "settled", settled: "gone" });
  await shared.leave("refused", { stage: "refused" });
  const ledger = shared.openSession();
  for (const record of shared.records) {
    ledger.contest(record.key);
    ledger.contest(record.key);
  }
  ledger.contest("none-1");
  ledger.contest("none");
  expect(marksByName()).toEqual({
    delivered: "delivered, contested",
    settled: "settled",
    refused: "refused",
  });
  const content = shared.content(basename(file));
  expect(content.split("\n").filter((line) => line.startsWith('{"contested"'))).toHaveLength(1);
  appendFileSync(file, '{"contested":"none-1","owner":"none","by":"none","at":"2026"}\n');
  expect(ledger.settle(key, "state")).toBe(true);
  expect(shared.warnings).toEqual([]);
});

test("if a mark can't be written, one warning says so, and the own record is marked with the next write", async () => {
  const { key } = await shared.leave("other", { stage: "replied", id: "i-1" });
  const disk = fillableDisk();
  const ledger = shared.openSession(disk.disk);
  const own = await ledger.begin(newRecord("own"));
  disk.isFull = true;
  for (const recordKey of [own, key]) ledger.contest(recordKey);
  expect(shared.warnings).toEqual([expect.stringContaining("can't be written (ENOSPC")]);
  expect(marksByName()).toEqual({ other: "replied", own: "sending" });
  disk.isFull = false;
  await ledger.begin(newRecord("next"));
  expect(marksByName()).toEqual({ other: "replied", own: "sending, contested", next: "sending" });
});

test.each(["state", "gone", "dropped", "discarded"] as const)(
  "a contested delivered record can be settled (%s), and no import changes it",
  async (reason) => {
    const { key } = await shared.leave("web", { stage: "delivered", id: "i-1" });
    const ledger = shared.openSession();
    ledger.contest(key);
    ledger.markImported(importOf("web", "i-1"));
    expect(shared.records.map(isContested)).toEqual([true]);
    ledger.settleId(newRecord("web"), "i-1", reason);
    expect(shared.records).toMatchObject([{ stage: "settled", settled: reason }]);
  },
);

const otherStack = "urn:pulumi:prod::proj::compute:index:Instance::web";

test("a record follows its instance to the resource that has it now, as an alias, an upgrade of the plugin or `state move` makes it, and is written once", async () => {
  const { key } = await shared.leave("web", { stage: "delivered", id: "i-1" });
  const disk = slowDisk();
  const ledger = shared.openSession(disk);
  const holder = { urn: `${otherStack}-2`, scope: "another", provider: "urn:of:provider" };
  for (let n = 0; n < 2; n++) ledger.settleId(newRecord("web"), "i-1", "state", holder);
  expect(shared.records).toMatchObject([{ key, stage: "settled", settled: "state", ...holder }]);
  expect(disk.lines).toHaveLength(1);
  const next = shared.openSession(disk);
  next.settleId(newRecord("web"), "i-1", "state", holder);
  expect(disk.lines).toHaveLength(1);
  next.settleId(newRecord("web"), "i-1", "state", { ...holder, urn: otherStack });
  expect(shared.records).toMatchObject([{ urn: otherStack, settled: "state" }]);
  next.settleId(newRecord("web"), "i-1", "gone");
  next.settleId(newRecord("web"), "i-1", "state", holder);
  expect(shared.records).toMatchObject([{ urn: otherStack, settled: "gone" }]);
});

test.each([
  { other: {}, contested: true },
  { other: { scope: "another" }, contested: true },
  { other: { urn: otherStack }, contested: false },
  { other: { urn: otherStack, scope: "another" }, contested: false },
  { other: { urn: otherStack, scope: undefined }, contested: false },
  { other: { stateless: true }, contested: false },
  { own: { stateless: true }, contested: false },
] as const)(
  "what a run delivers is contested only if another live session has a record of the same stack: %j",
  async ({ contested, ...records }) => {
    const { own = {}, other = {} } = { own: {}, other: {}, ...records };
    const ledger = shared.openSession();
    const key = await ledger.begin(newRecord("web", own));
    ledger.move(key, { stage: "replied", id: "i-1" });
    const otherRun = shared.openSession();
    const settled = await otherRun.begin(newRecord("db", other));
    otherRun.move(settled, { stage: "settled", settled: "gone" });
    ledger.markDelivered();
    expect(shared.records.filter(isContested).map(({ name }) => name)).toEqual(
      contested ? ["web"] : [],
    );
  },
);

test("what a run delivers is not contested by runs that have ended, nor by its program's other provider", async () => {
  const known = { engine: "127.0.0.1:1", scope: "0f1e2d3c", urn: newRecord("web").urn };
  const ended = shared.openSession();
  ended.move(await ended.begin(newRecord("old")), { stage: "replied", id: "i-0" });
  ended.markDelivered();
  await ended.close();
  shared.passDays(1);
  const [one, two] = [
    shared.openSession(systemDisk, () => known),
    shared.openSession(systemDisk, () => ({ ...known, scope: "another" })),
  ];
  for (const [ledger, name] of [
    [one, "web"],
    [two, "db"],
  ] as const) {
    ledger.move(await ledger.begin(newRecord(name)), { stage: "replied", id: `i-${name}` });
  }
  shared.passDays(1);
  for (const ledger of [one, two]) {
    ledger.read();
    ledger.markDelivered();
  }
  expect(marksByName()).toEqual({ old: "delivered", web: "delivered", db: "delivered" });
});

/** Two runs of one stack. Each knows its stack before it has a record. */
function openRuns(...proven: readonly (readonly string[])[]): Ledger[] {
  return proven.map((ids) =>
    shared.openSession(systemDisk, () => ({
      scope: newRecord("web").scope,
      urn: newRecord("web").urn,
      proven: new Set(ids),
    })),
  );
}

test("a run that meets another live run of its stack marks its records, and then its own when it delivers them", async () => {
  const [first, second] = openRuns([], []);
  if (!first || !second) throw new Error("no runs");
  const key = await first.begin(newRecord("web"));
  first.move(key, { stage: "accepted", id: "i-1" });
  expect(second.read()).toMatchObject([{ record: { contested: true }, liveness: "alive" }]);
  first.move(key, { stage: "replied" });
  first.markDelivered();
  await first.close();
  expect(marksByName()).toEqual({ web: "delivered, contested" });
  second.move(await second.begin(newRecord("db")), { stage: "replied", id: "i-2" });
  second.markDelivered();
  expect(marksByName()).toEqual({ web: "delivered, contested", db: "delivered, contested" });
});

test.each(["read", "markDelivered", "endRun"] as const)(
  "`%s` marks what another run has delivered since this one began, even if a state held it that is not this run's",
  async (method) => {
    const deliver = async (name: string) => {
      shared.passDays(1);
      const [run] = openRuns([]);
      run?.move((await run.begin(newRecord(name))) ?? "", { stage: "replied", id: `i-${name}` });
      run?.markDelivered();
      await run?.close();
    };
    await deliver("before");
    shared.passDays(1);
    const [run] = openRuns(["i-proven here"]);
    shared.passDays(1);
    for (const name of ["web", "held", "proven here", "gone"]) await deliver(name);
    shared.passDays(1);
    const settling = shared.openSession();
    for (const id of ["i-held", "i-proven here"]) settling.settleId(newRecord("web"), id, "state");
    settling.settleId(newRecord("web"), "i-gone", "gone");
    run?.[method]();
    expect(marksByName()).toEqual({
      before: "delivered",
      web: "delivered, contested",
      held: "delivered, contested",
      "proven here": "settled",
      gone: "settled",
    });
    expect(shared.records.filter(({ settled }) => settled).map(({ settled }) => settled)).toEqual(
      expect.arrayContaining(["state", "gone"]),
    );
  },
);

test("what a third run has seen in the state before it was delivered is contested for a run that began before", async () => {
  const [first, second, third] = openRuns([], [], ["i-1"]);
  if (!first || !second || !third) throw new Error("no runs");
  shared.passDays(1);
  const key = await second.begin(newRecord("web"));
  second.move(key, { stage: "replied", id: "i-1", ended: true });
  third.settleId(newRecord("web"), "i-1", "state");
  second.markDelivered();
  await second.close();
  expect(marksByName()).toEqual({ web: "settled" });
  first.read();
  expect(marksByName()).toEqual({ web: "delivered, contested" });
});

test.each(["after", "before"] as const)(
  "a state that a third run has read does not settle a record %s a run that may save an older state over it has ended",
  async (when) => {
    const [creator, stale] = openRuns([], []);
    if (!creator || !stale) throw new Error("no runs");
    const key = await creator.begin(newRecord("web"));
    creator.move(key, { stage: "replied", id: "i-1", ended: true });
    stale.read();
    creator.markDelivered();
    await creator.close();
    shared.passDays(1);
    const [third] = openRuns(["i-1"]);
    shared.passDays(1);
    if (when === "before") third?.settleId(newRecord("web"), "i-1", "state");
    stale.endRun();
    await stale.close();
    third?.settleId(newRecord("web"), "i-1", "state");
    expect(marksByName()).toEqual({ web: "delivered, contested" });
    third?.endRun();
    shared.passDays(1);
    // A run that begins later reads the state that is left.
    const [fourth] = openRuns(["i-1"]);
    fourth?.settleId(newRecord("web"), "i-1", "state");
    expect(marksByName()).toEqual({ web: "settled, contested" });
  },
);

test.each([
  [0, "delivered, contested"],
  [1, "delivered"],
])(
  "a run that begins %s ms after another one has ended finds its record %s",
  async (pauseMs, mark) => {
    shared.setPause(pauseMs);
    const [creator] = openRuns([]);
    if (!creator) throw new Error("no run");
    const key = await creator.begin(newRecord("web"));
    creator.move(key, { stage: "replied", id: "i-1", ended: true });
    creator.markDelivered();
    await creator.close();
    const [next] = openRuns([]);
    next?.read();
    expect(marksByName()).toEqual({ web: mark });
  },
);

test("an interrupted run, whose instance the next run's state holds, was not under way together with that run", async () => {
  const [interrupted] = openRuns([]);
  if (!interrupted) throw new Error("no run");
  const key = await interrupted.begin(newRecord("web"));
  interrupted.move(key, { stage: "replied", id: "i-1", ended: true });
  await interrupted.close();
  shared.passDays(1);
  const [next] = openRuns(["i-1"]);
  if (!next) throw new Error("no run");
  next.settleId(newRecord("web"), "i-1", "state");
  next.move(await next.begin(newRecord("db")), { stage: "replied", id: "i-2", ended: true });
  next.read();
  next.markDelivered();
  expect(marksByName()).toEqual({ web: "settled", db: "delivered" });
});

test("a run that has taken over what another one began does not mark it at its end", async () => {
  const [first, second] = openRuns([], []);
  if (!first || !second) throw new Error("no runs");
  const key = await first.begin(newRecord("web"));
  second.read();
  await first.close();
  expect(takeOver(second, key)).toBe(true);
  second.endRun();
  expect(marksByName()).toEqual({ web: "sending" });
});

test("a session whose stack is not known, as that of a command, marks nothing", async () => {
  const run = shared.openSession();
  await run.begin(newRecord("web"));
  expect(shared.records).toMatchObject([{ stage: "sending" }]);
  expect(marksByName()).toEqual({ web: "sending" });
});
