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
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { leaveOpen, ledgerRecord, newRecord } from "../testing/ledgerRecord";
import { temporaryFolder } from "../testing/temporaryFolder";
import { systemDisk, type Disk } from "./disk";
import { Ledger } from "./ledger";
import type { LedgerRecord } from "./record";

const dayMs = 24 * 60 * 60 * 1000;

/** Makes a ledger folder in which a test can open any number of sessions. */
function makeLedgerFolder(home = temporaryFolder()) {
  const folder = join(home, "compute", "ledger");
  const warnings: string[] = [];
  let sessionCount = 0;
  /** How far the clock is ahead of the machine's clock. */
  let aheadMs = 0;
  const clock = { date: () => new Date(Date.now() + aheadMs) };
  return {
    folder,
    warnings,
    /** Opens the ledger in a new session, with the id s1, s2 and so on. */
    openSession: (disk: Disk = systemDisk) =>
      new Ledger(
        folder,
        `s${++sessionCount}`,
        (message) => void warnings.push(message),
        clock,
        disk,
      ),
    /** The records as a new session reads them. */
    get records(): LedgerRecord[] {
      return this.openSession()
        .read()
        .map(({ record }) => record);
    },
    passDays: (days: number) => void (aheadMs += days * dayMs),
    files: () => readdirSync(folder).sort(),
  };
}

/** Returns a new record with the present time. */
const recent = (resource: string) => newRecord(resource, { at: new Date().toISOString() });

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

/** Lets pending callbacks run. */
const settlePromises = () => new Promise((resolve) => setImmediate(resolve));

test("a record is on the disk before `begin` resolves, and its later stages are written at once", async () => {
  const disk = slowDisk();
  const shared = makeLedgerFolder();
  const ledger = shared.openSession(disk);
  let key: string | undefined;
  const begun = ledger.begin(newRecord("web")).then((it) => (key = it));
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
  const shared = makeLedgerFolder();
  const place = ledgerRecord("web");
  await leaveOpen(shared.folder, "web", { stage: "accepted", id: "i-1" });
  await leaveOpen(shared.folder, "db", { stage: "unknown" });
  await leaveOpen(shared.folder, "other", { stage: "unknown", name: "db" });
  const ledger = shared.openSession();
  ledger.markImported(place, ledgerRecord("alias").urn, "i-1", ["web"]);
  ledger.markImported(place, ledgerRecord("db").urn, "i-2", ["db"]);
  ledger.markDelivered();
  const summaries = shared.records.map(({ urn, stage, id }) => [urn.split("::").at(-1), stage, id]);
  expect(summaries.sort()).toEqual([
    ["db", "replied", "i-2"],
    ["other", "unknown", undefined],
    ["web", "replied", "i-1"],
  ]);
});

test("an import changes only one of several records with its name, since the others may be of other instances", async () => {
  const shared = makeLedgerFolder();
  const killed = shared.openSession();
  await killed.begin(newRecord("web"));
  await killed.begin(newRecord("web"));
  await killed.close();
  const ledger = shared.openSession();
  const place = ledgerRecord("web");
  for (let time = 0; time < 2; time++) {
    ledger.markImported(place, ledgerRecord("web").urn, "i-1", ["web"]);
    expect(shared.records.map(({ id }) => id).sort()).toEqual(["i-1", undefined]);
  }
});

test("an import of an instance that existed before a create does not change the create's record", async () => {
  const shared = makeLedgerFolder();
  const killed = shared.openSession();
  await killed.begin({ ...newRecord("web"), before: ["i-1"] });
  await killed.close();
  shared.openSession().markImported(ledgerRecord("web"), ledgerRecord("web").urn, "i-1", ["web"]);
  expect(shared.records.map(({ stage, id }) => [stage, id])).toEqual([["sending", undefined]]);
});

test("300 creates that begin at once share one sync, and creates that begin during the sync share the next one", async () => {
  const disk = slowDisk();
  const ledger = makeLedgerFolder().openSession(disk);
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
  const ledger = makeLedgerFolder().openSession(disk);
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
    const shared = makeLedgerFolder();
    const fail = () => {
      throw new Error("ENOSPC: no space left on device");
    };
    const change = what === "the write" ? { append: fail } : { sync: async () => fail() };
    const ledger = shared.openSession({ ...systemDisk, ...change });
    const keys = [await ledger.begin(recent("a")), await ledger.begin(recent("b"))];
    ledger.move(keys[0] ?? "", { stage: "replied", id: "i-1" });
    expect(shared.warnings).toEqual([
      expect.stringMatching(
        /can't be written \(ENOSPC.*the next run will not find that out.*PULUMI_HOME/,
      ),
    ]);
    expect(ledger.read()).toMatchObject([
      { record: { name: "a", stage: "replied", id: "i-1" }, own: true, inFlight: true },
      { record: { name: "b", stage: "sending" }, own: true },
    ]);
    ledger.markDelivered();
    expect(ledger.read()[0]).toMatchObject({ record: { stage: "delivered" }, inFlight: false });
    await ledger.close();
    expect(shared.warnings).toHaveLength(1);
  },
);

test("a line that was written only in part damages no other line", async () => {
  const shared = makeLedgerFolder();
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
    ["c", "sending"],
    ["b", "unknown"],
  ]);
});

test("a home in which no ledger can be made causes one warning", async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "compute"), "a file where the folder would be");
  const { openSession, warnings } = makeLedgerFolder(home);
  const ledger = openSession();
  expect(ledger.read()).toEqual([]);
  const keys = [await ledger.begin(newRecord("a")), await ledger.begin(newRecord("b"))];
  ledger.move(keys[0] ?? "", { stage: "accepted", id: "i-1", ended: true });
  expect(ledger.take(keys[0] ?? "")).toBe(true);
  ledger.settleId(newRecord("a"), "i-1", "gone");
  expect(ledger.settle("other-1", "gone")).toBe(false);
  expect(ledger.take("other-1")).toBe(false);
  ledger.drop(keys[1] ?? "");
  ledger.markDelivered();
  expect(ledger.read().map(({ record }) => record.settled)).toEqual(["gone", "absent"]);
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
  const { openSession, folder, warnings, files } = makeLedgerFolder();
  const ledger = openSession();
  ledger.read();
  ledger.settleId(newRecord("web"), "i-1", "state");
  ledger.markDelivered();
  await ledger.close();
  expect(() => statSync(folder)).toThrow("ENOENT");
  await leaveOpen(folder, "web");
  const before = files();
  openSession().read();
  expect(files()).toEqual(before);
  expect(warnings).toEqual([]);
});

test("only the user can read the files", async () => {
  const { openSession, folder, files } = makeLedgerFolder();
  await openSession().begin(newRecord("web"));
  expect(files()).toEqual(["common.lock", "s1.jsonl", "s1.lock"]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const file of files()) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
});

test("a file holds its records as readable JSON", async () => {
  const { openSession, folder } = makeLedgerFolder();
  const key = await openSession().begin(newRecord("web"));
  const text = readFileSync(join(folder, "s1.jsonl"), "utf8");
  expect(JSON.parse(text)).toEqual(ledgerRecord("web", { session: "s1", key }));
});

test.each(["{", "null", "[]", '{"urn": 1}', "\u0000\u0001", "x\ny\nz"])(
  "lines that are %j are ignored, with one warning",
  async (garbage) => {
    const shared = makeLedgerFolder();
    const one = await leaveOpen(shared.folder, "one");
    const file = join(shared.folder, `${one.session}.jsonl`);
    appendFileSync(file, `${garbage}\n`);
    const ledger = shared.openSession();
    for (let time = 0; time < 2; time++) {
      expect(ledger.read().map(({ record }) => record)).toEqual([one]);
    }
    expect(shared.warnings).toEqual([
      expect.stringContaining(`can't be read and is ignored: ${file}`),
    ]);
    expect(ledger.settle(one.key, "gone")).toBe(true);
    expect(shared.records).toMatchObject([{ settled: "gone" }]);
  },
);

test("a record that names another session is ignored", async () => {
  const { openSession, folder, warnings } = makeLedgerFolder();
  const one = await leaveOpen(folder, "one");
  const stray = ledgerRecord("x", { session: "../../x", key: one.key });
  appendFileSync(join(folder, `${one.session}.jsonl`), `${JSON.stringify(stray)}\n`);
  expect(openSession().read()).toHaveLength(1);
  expect(warnings).toHaveLength(1);
});

test("an incomplete line counts as damaged once its session is dead, and damages no later line", async () => {
  const shared = makeLedgerFolder();
  const running = shared.openSession();
  await running.begin(newRecord("running"));
  appendFileSync(join(shared.folder, "s1.jsonl"), '{"key": "s1');
  expect(shared.records).toHaveLength(1);
  expect(shared.warnings).toEqual([]);

  const dead = await leaveOpen(shared.folder, "dead");
  const file = join(shared.folder, `${dead.session}.jsonl`);
  truncateSync(file, statSync(file).size - 9);
  expect(shared.records).toHaveLength(1);
  expect(shared.warnings).toEqual([expect.stringContaining(file)]);

  const two = await leaveOpen(shared.folder, "two");
  appendFileSync(join(shared.folder, `${two.session}.jsonl`), '{"key": ');
  expect(shared.openSession().settle(two.key, "gone")).toBe(true);
  expect(shared.records.find(({ key }) => key === two.key)).toMatchObject({ settled: "gone" });
});

test("a folder in place of a file, and unrelated files, cause no error", async () => {
  const shared = makeLedgerFolder();
  const one = await leaveOpen(shared.folder, "one");
  mkdirSync(join(shared.folder, "abc.jsonl", "sub"), { recursive: true });
  writeFileSync(join(shared.folder, "notes.txt"), "x");
  writeFileSync(join(shared.folder, `${"0".repeat(32)}.json`), "{");
  const ledger = shared.openSession();
  for (let time = 0; time < 2; time++) {
    expect(ledger.read().map(({ record }) => record)).toEqual([one]);
  }
  expect(shared.warnings).toEqual([expect.stringContaining(join(shared.folder, "abc.jsonl"))]);
});

test("`inFlight` and `own` follow the Create call and the session that drive a record", async () => {
  const shared = makeLedgerFolder();
  const [one, two] = [shared.openSession(), shared.openSession()];
  const key = await one.begin(newRecord("web"));
  expect(one.read()).toMatchObject([{ inFlight: true, own: true, unlockable: false }]);
  expect(two.read()).toMatchObject([{ inFlight: true, own: false, unlockable: false }]);
  one.move(key, { stage: "accepted", id: "i-1", ended: true });
  expect(two.read()).toMatchObject([{ inFlight: false, record: { ended: true } }]);
  expect(one.read()).toMatchObject([{ inFlight: false, own: true }]);

  const other = await one.begin(newRecord("other"));
  await one.close();
  expect(two.read().map(({ inFlight }) => inFlight)).toEqual([false, false]);
  one.move(other, { stage: "refused" });
  expect(two.read()[1]).toMatchObject({ record: { stage: "sending" } });
});

test("`take` succeeds only if no call drives the record, and removes `ended`", async () => {
  const shared = makeLedgerFolder();
  const [one, two, three] = [shared.openSession(), shared.openSession(), shared.openSession()];
  const key = await one.begin(recent("web"));
  for (const ledger of [one, two]) {
    ledger.read();
    expect(ledger.take(key)).toBe(false);
  }
  one.move(key, { ended: true });
  expect(one.take(key)).toBe(true);
  expect(one.read()[0]?.record).not.toHaveProperty("ended");
  expect(one.take(key)).toBe(false);
  one.move(key, { stage: "accepted", id: "i-1" });
  await one.close();

  two.read();
  three.read();
  expect(two.take("s1-7")).toBe(false);
  expect(two.take(key)).toBe(true);
  expect(three.take(key)).toBe(false);
  one.move(key, { stage: "refused" });
  two.move(key, { stage: "replied" });
  two.markDelivered();
  expect(shared.records).toMatchObject([{ key, session: "s1", owner: "s2", stage: "delivered" }]);
  expect(shared.files()).toContain("s1.jsonl");
});

test("a record that another session has changed since the last `read` is not taken over", async () => {
  const shared = makeLedgerFolder();
  const { key } = await leaveOpen(shared.folder, "web", { stage: "unknown" });
  const [one, two] = [shared.openSession(), shared.openSession()];
  one.read();
  two.read();
  expect(two.take(key)).toBe(true);
  two.move(key, { stage: "accepted", id: "i-1" });
  await two.close();
  expect(one.take(key)).toBe(false);
  expect(one.read()).toMatchObject([{ inFlight: false, record: { id: "i-1" } }]);
  expect(one.take(key)).toBe(true);
});

test("after another session has taken a record over, the first session no longer changes it", async () => {
  const shared = makeLedgerFolder();
  const [one, two] = [shared.openSession(), shared.openSession()];
  const key = await one.begin(newRecord("web"));
  one.move(key, { stage: "replied", id: "i-1", ended: true });
  two.read();
  expect(two.take(key)).toBe(true);
  one.markDelivered();
  expect(one.take(key)).toBe(false);
  expect(shared.records).toMatchObject([{ stage: "replied", owner: "s2" }]);
});

test("a refused, delivered or settled record is not taken over", async () => {
  const shared = makeLedgerFolder();
  for (const stage of ["refused", "delivered", "settled"] as const) {
    await leaveOpen(shared.folder, stage, { stage });
  }
  const ledger = shared.openSession();
  expect(ledger.read().map(({ record }) => ledger.take(record.key))).toEqual([false, false, false]);
});

test("`settle` writes once to a dead session's file, but not during a live session's call", async () => {
  const shared = makeLedgerFolder();
  const [one, two] = [shared.openSession(), shared.openSession()];
  const key = await one.begin(newRecord("web"));
  expect(two.settle(key, "discarded")).toBe(false);
  await one.close();
  const before = readFileSync(join(shared.folder, "s1.jsonl"), "utf8");
  expect(two.settle(key, "discarded")).toBe(true);
  expect(two.settle(key, "gone")).toBe(false);
  expect(two.settle("s1-9", "gone")).toBe(false);
  const after = readFileSync(join(shared.folder, "s1.jsonl"), "utf8");
  expect(after.startsWith(before)).toBe(true);
  expect(shared.records).toMatchObject([{ stage: "settled", settled: "discarded" }]);
  expect(shared.files()).toEqual(["common.lock", "s1.jsonl", "s1.lock"]);
});

test("a settled record stays settled, whatever its session writes afterwards", async () => {
  const shared = makeLedgerFolder();
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

test("`settleId` settles all records with the id and place, whichever session owns them", async () => {
  const shared = makeLedgerFolder();
  const replied = { stage: "replied", id: "i-1" } as const;
  await leaveOpen(shared.folder, "dead", replied);
  await leaveOpen(shared.folder, "elsewhere", { ...replied, tokenKind: "live" });
  await leaveOpen(shared.folder, "another", { ...replied, id: "i-2" });
  const ledger = shared.openSession();
  ledger.move(await ledger.begin(newRecord("own")), { stage: "delivered", id: "i-1" });
  ledger.settleId(newRecord("x"), "i-1", "state");
  const settled = shared.records.filter(({ stage }) => stage === "settled");
  expect(settled.map(({ name }) => name).sort()).toEqual(["dead", "own"]);
});

test("`markDelivered` delivers only `replied` records, and a second call changes nothing", async () => {
  const shared = makeLedgerFolder();
  const dead = await leaveOpen(shared.folder, "dead", { stage: "replied", id: "i-0" });
  const ledger = shared.openSession();
  for (const stage of ["sending", "unknown", "accepted", "replied", "refused"] as const) {
    ledger.move(await ledger.begin(recent(stage)), { stage });
  }
  ledger.markDelivered();
  const text = readFileSync(join(shared.folder, "s1.jsonl"), "utf8");
  ledger.markDelivered();
  expect(readFileSync(join(shared.folder, "s1.jsonl"), "utf8")).toBe(text);
  const stages = new Map(shared.records.map(({ name, stage }) => [name, stage]));
  expect([...stages].filter(([name, stage]) => name !== stage)).toEqual(
    [...[["replied", "delivered"]], ...[["dead", dead.stage]]].sort(),
  );
});

test("after 30 days, a delivered record counts as settled", async () => {
  const shared = makeLedgerFolder();
  const at = new Date().toISOString();
  await leaveOpen(shared.folder, "web", { stage: "delivered", at });
  shared.passDays(29);
  expect(shared.records).toMatchObject([{ stage: "delivered" }]);
  shared.passDays(2);
  expect(shared.records).toMatchObject([{ stage: "settled", settled: "state" }]);
});

test("a record whose POST was not sent is settled as absent", async () => {
  const shared = makeLedgerFolder();
  const ledger = shared.openSession();
  ledger.drop(await ledger.begin(newRecord("web")));
  expect(shared.records).toMatchObject([{ stage: "settled", settled: "absent" }]);
});

test("a file is removed if its session is dead, all its records are settled and 7 days have passed", async () => {
  const shared = makeLedgerFolder();
  const at = new Date().toISOString();
  const alive = shared.openSession();
  alive.move(await alive.begin(newRecord("alive")), { stage: "refused" });
  await leaveOpen(shared.folder, "open", { stage: "unknown" });
  await leaveOpen(shared.folder, "delivered", { stage: "delivered", at });
  await leaveOpen(shared.folder, "settled", { stage: "settled", settled: "state", id: "i-1" });
  await leaveOpen(shared.folder, "refused", { stage: "refused" });
  const damaged = await leaveOpen(shared.folder, "damaged", { stage: "refused" });
  appendFileSync(join(shared.folder, `${damaged.session}.jsonl`), "{\n");
  const namesLater = async () => {
    const later = shared.openSession();
    later.drop(await later.begin(newRecord("later")));
    await later.close();
    const names = shared.records.map(({ name }) => name);
    return names.filter((name) => name !== "later").sort();
  };
  const kept = ["alive", "damaged", "delivered", "open"];
  shared.passDays(6);
  expect(await namesLater()).toEqual([...kept, "refused", "settled"]);
  shared.passDays(2);
  expect(await namesLater()).toEqual(kept);
  shared.passDays(30);
  expect(await namesLater()).toEqual(["alive", "open"]);
  // The locks of the two sessions, of the last session, and the common lock.
  expect(shared.files().filter((name) => name.endsWith(".lock"))).toHaveLength(4);
});

test("a record of a session without a lock is `unlockable`, and is not taken over", async () => {
  const shared = makeLedgerFolder();
  const { key, session } = await leaveOpen(shared.folder, "web", { stage: "unknown" });
  rmSync(join(shared.folder, `${session}.lock`));
  const ledger = shared.openSession();
  expect(ledger.read()).toMatchObject([{ inFlight: false, unlockable: true }]);
  expect(ledger.take(key)).toBe(false);
  expect(ledger.settle(key, "discarded")).toBe(true);
  expect(ledger.read()).toMatchObject([{ unlockable: false, record: { settled: "discarded" } }]);
});

test("if files can't be locked, everything works except taking other sessions' records over", async () => {
  const shared = makeLedgerFolder();
  const { key } = await leaveOpen(shared.folder, "web", { stage: "unknown" });
  rmSync(join(shared.folder, "common.lock"));
  mkdirSync(join(shared.folder, "common.lock"));
  const ledger = shared.openSession();
  const own = await ledger.begin(newRecord("own"));
  expect(ledger.read().find(({ record }) => record.key === key)).toMatchObject({
    unlockable: true,
  });
  expect(ledger.take(key)).toBe(false);
  ledger.move(own, { ended: true });
  expect(ledger.take(own)).toBe(true);
  expect(ledger.settle(key, "gone")).toBe(true);
  await ledger.close();
  expect(shared.records.map(({ name, settled }) => [name, settled])).toEqual(
    expect.arrayContaining([
      ["web", "gone"],
      ["own", undefined],
    ]),
  );
  expect(shared.warnings).toEqual([]);
});

test("an owner whose files were removed counts as dead", async () => {
  const shared = makeLedgerFolder();
  const { key } = await leaveOpen(shared.folder, "web", { stage: "unknown" });
  const one = shared.openSession();
  one.read();
  expect(one.take(key)).toBe(true);
  await one.close();
  for (const name of ["s1.jsonl", "s1.lock"]) rmSync(join(shared.folder, name));
  expect(shared.openSession().read()).toMatchObject([
    { record: { owner: "s1" }, inFlight: false, unlockable: false },
  ]);
});

test("a file that was removed while a session used it does not come back, and causes one warning", async () => {
  const shared = makeLedgerFolder();
  const { key, session } = await leaveOpen(shared.folder, "web", { stage: "unknown" });
  const ledger = shared.openSession();
  ledger.read();
  expect(ledger.take(key)).toBe(true);
  rmSync(join(shared.folder, `${session}.jsonl`));
  ledger.move(key, { stage: "accepted", id: "i-1" });
  ledger.move(key, { stage: "replied" });
  expect(ledger.read()).toMatchObject([{ record: { stage: "replied", id: "i-1" }, own: true }]);
  expect(shared.files()).not.toContain(`${session}.jsonl`);
  expect(shared.warnings).toEqual([expect.stringContaining("can't be written (ENOENT")]);
});

test("a session that has ended warns if it is asked to begin a record", async () => {
  const { openSession, warnings } = makeLedgerFolder();
  const ledger = openSession();
  await ledger.close();
  expect(await ledger.begin(newRecord("web"))).toBe("s1-1");
  expect(warnings).toEqual([expect.stringContaining("can't be written (the run has ended)")]);
});
