/** Tests which creates the ledger keeps in doubt, for this session and for later ones. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { leaveInDoubt, ownFields } from "../testing/ledgerRecord";
import { temporaryFolder } from "../testing/temporaryFolder";
import { createComplete, systemDisk, type Disk } from "./disk";
import { Ledger } from "./ledger";
import { fileNameOf, type LedgerRecord } from "./record";

const at = "2026-01-01T00:00:00.000Z";
const scope = ownFields("web").scope;

let folder: string;
let warnings: string[];
let sessionCount: number;
beforeEach(() => {
  folder = join(temporaryFolder(), "compute", "ledger");
  warnings = [];
  sessionCount = 0;
});

/** Opens the ledger in a new session, with the id s1, s2 and so on. */
function open(disk: Partial<Disk> = {}) {
  const session = `s${++sessionCount}`;
  const ledger = new Ledger({
    folder,
    session,
    warn: (message) => void warnings.push(message),
    clock: { date: () => new Date() },
    disk: { ...systemDisk, ...disk },
  });
  const own = (resource: string) => ownFields(resource, { session });
  return { ledger, session, own };
}

const pathOf = (resource: string) => join(folder, fileNameOf(ownFields(resource).urn));
const { urn } = ownFields("web");
const content = (resource: string) =>
  JSON.parse(readFileSync(pathOf(resource), "utf8")) as LedgerRecord;

test("a create that ends in order leaves nothing, not even a lock", async () => {
  const { ledger, own, session } = open();
  expect(ledger.claim(own("web"))).toEqual({ kind: "made" });
  expect(content("web")).toEqual({ ...own("web"), before: [] });
  await ledger.prepare(urn, { at, before: ["i-0"] });
  ledger.update(urn, { id: "i-1" });
  ledger.update(urn, { givenBy: session });
  expect(content("web")).toEqual({ ...own("web"), before: ["i-0"], at, id: "i-1", givenBy: "s1" });
  ledger.endInOrder();
  await ledger.close();
  expect(readdirSync(folder)).toEqual([]);
  expect(warnings).toEqual([]);
});

test("a ledger without a session, which a command has, reads the records, and makes and takes over none", async () => {
  await leaveInDoubt(folder, "web");
  const reader = new Ledger({ folder, warn: () => undefined, clock: { date: () => new Date() } });
  const names = readdirSync(folder);
  const [found] = reader.all();
  expect(found).toMatchObject({ liveness: "dead", record: { urn } });
  reader.claim(ownFields("db"));
  expect(found && reader.takeOver(found.record)).toBe(false);
  expect(readdirSync(folder)).toEqual(names);
  expect(found && reader.forget(found.record)).toBe(true);
});

test("while a session lives, no other gets its record, and after its end, one does", async () => {
  const first = open();
  const [second, third] = [open(), open()];
  first.ledger.claim(first.own("web"));
  const alive = second.ledger.claim(second.own("web"));
  if (alive.kind !== "found") throw new Error("nothing was found");
  expect(alive).toMatchObject({ liveness: "alive", record: { session: "s1" } });
  expect(second.ledger.takeOver(alive.record)).toBe(false);
  await first.ledger.close();
  expect(second.ledger.claim(second.own("web"))).toMatchObject({ liveness: "dead" });
  expect(second.ledger.takeOver(alive.record)).toBe(true);
  expect(third.ledger.takeOver(alive.record)).toBe(false);
  expect(third.ledger.claim(third.own("web"))).toMatchObject({
    liveness: "alive",
    record: { session: "s2" },
  });
});

test("a second create of one session finds the record of the first, and makes it its own anew", () => {
  const { ledger, own } = open();
  ledger.claim(own("web"));
  ledger.update(urn, { at, id: "i-1" });
  expect(ledger.claim(own("web"))).toMatchObject({ kind: "found", record: { at, id: "i-1" } });
  ledger.clear({ ...own("web"), digest: "other" });
  expect(content("web")).toEqual({ ...own("web"), digest: "other", before: [] });
});

/** The run has no complete listing. */
const unlisted = () => undefined;

test("a record that its session removes and ends, between the read of its file and the look at its lock, is not in doubt", () => {
  const other = open();
  other.ledger.claim(other.own("web"));
  other.ledger.update(urn, { at, id: "i-1", givenBy: other.session });
  const { ledger } = open({
    testLock: () => {
      other.ledger.endInOrder();
      return "free";
    },
  });
  expect(ledger.endRun({ scope }, unlisted)).toEqual([]);
  expect(ledger.find(urn)).toBeUndefined();
});

test("a session that has only taken a record over does not end its doubt at its own end", async () => {
  const left = await leaveInDoubt(folder, "web", { id: "i-1", givenBy: "killed" });
  const { ledger } = open();
  const found = ledger.find(urn);
  if (found?.kind !== "found") throw new Error("nothing was found");
  expect(ledger.takeOver(found.record)).toBe(true);
  ledger.endInOrder();
  await ledger.close();
  expect(content("web")).toMatchObject({ ...left, session: "s1" });
});

const elsewhere = { baseUrl: "https://b.example/v2", tokenKind: "test", tokenHash: "t" };
test.each<[string, Parameters<Ledger["noteShown"]>[0], boolean]>([
  ["another session", { id: "i-1", urn, stamp: "s0" }, false],
  ["another session, at another resource", { id: "i-1", urn: "urn:other", stamp: "s0" }, false],
  ["this session", { id: "i-1", urn, stamp: "s1" }, true],
  ["nobody", { id: "i-1", urn }, true],
  ["another session, of another instance", { id: "i-2", urn, stamp: "s0" }, true],
  ["another session, of another service", { id: "i-1", urn, stamp: "s0", origin: elsewhere }, true],
])(
  "a call with the stamp of %s ends the doubt, at the latest at the end",
  async (_, shown, stays) => {
    await leaveInDoubt(folder, "web", { id: "i-1" });
    const { ledger } = open();
    ledger.noteShown(shown);
    if (shown.urn === urn) expect(existsSync(pathOf("web"))).toBe(stays);
    ledger.endRun({}, unlisted);
    expect(existsSync(pathOf("web"))).toBe(stays);
  },
);

describe("a record without an id ends with the state's instance of its resource, if", () => {
  const shown = { id: "i-2", urn, stamp: "s0" };
  const listed = ["i-1", "i-2"];
  test.each<[string, Partial<Parameters<Ledger["noteShown"]>[0]>, string[] | undefined, boolean]>([
    ["it is the only listed one of the name that is newer than the POST", {}, listed, false],
    ["and stays if another newer one is listed", {}, [...listed, "i-3"], true],
    ["and stays if it is older", { id: "i-1" }, listed, true],
    ["and stays if it is not listed under the name", {}, ["i-1"], true],
    ["and stays without a complete listing", {}, undefined, true],
    ["and stays if another resource has it", { urn: "urn:other" }, listed, true],
    ["and stays if it lives at another address", { origin: elsewhere }, listed, true],
    ["and stays if this session has imported it", { stamp: "s1" }, listed, true],
  ])("%s", async (_, more, ids, stays) => {
    await leaveInDoubt(folder, "web", { before: ["i-1"] });
    const { ledger } = open();
    ledger.noteShown({ ...shown, ...more });
    ledger.endRun({}, () => ids && new Set(ids));
    expect(existsSync(pathOf("web"))).toBe(stays);
  });
});

test("no call ends the doubt of a session that lives", () => {
  const { ledger, own } = open();
  ledger.claim(own("web"));
  ledger.update(urn, { at, id: "i-1" });
  const other = open();
  other.ledger.noteShown({ id: "i-1", urn, stamp: "s0" });
  expect(other.ledger.endRun({ scope }, unlisted)).toEqual([]);
  expect(existsSync(pathOf("web"))).toBe(true);
});

test("the end of a run names what is left of its provider resource or its stack, and removes what has sent nothing", async () => {
  await leaveInDoubt(folder, "web");
  await leaveInDoubt(folder, "mail", { scope: "another" });
  await leaveInDoubt(folder, "idle", { at: undefined });
  const { ledger } = open();
  const named = (run: Parameters<Ledger["endRun"]>[0]) =>
    ledger.endRun(run, unlisted).map(({ name }) => name);
  expect(named({ scope })).toEqual(["web"]);
  expect(named({ stack: "urn:pulumi:dev::proj" }).sort()).toEqual(["mail", "web"]);
  expect(named({ scope: "none", stack: "urn:pulumi:prod::proj" })).toEqual([]);
  expect(existsSync(pathOf("idle"))).toBe(false);
});

test("the end of a run removes the lock of a killed session that left no record, after a day", async () => {
  await leaveInDoubt(folder, "web");
  for (const name of ["s7.lock", "s8.lock", "x.json.1-1.tmp"])
    writeFileSync(join(folder, name), "");
  const yesterday = new Date(Date.now() - 25 * 60 * 60 * 1000);
  const locks = readdirSync(folder).filter((name) => /\.(lock|tmp)$/.test(name));
  for (const name of locks)
    if (name !== "s8.lock") utimesSync(join(folder, name), yesterday, yesterday);
  open().ledger.endRun({}, unlisted);
  const left = readdirSync(folder).filter((name) => /\.(lock|tmp)$/.test(name));
  expect(left.sort()).toEqual(locks.filter((name) => !/^(s7|x)/.test(name)).sort());
});

test.each(["", "no JSON", JSON.stringify({ ...ownFields("mail"), before: [] })])(
  "a file that can't be read (%j) stops creates of its resource only, and is named once",
  (text) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(pathOf("web"), text);
    const { ledger, own } = open();
    expect(ledger.claim(own("web"))).toEqual({ kind: "unreadable", path: pathOf("web") });
    expect(ledger.claim(own("mail"))).toEqual({ kind: "made" });
    expect(ledger.endRun({ scope }, unlisted)).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/can't be read.*json$/)]);
  },
);

test("a link to nothing in place of the file stops the create, as a file that can't be read does", () => {
  mkdirSync(folder, { recursive: true });
  symlinkSync("nowhere", pathOf("web"));
  const { ledger, own } = open();
  expect(ledger.claim(own("web"))).toEqual({ kind: "unreadable", path: pathOf("web") });
});

test("if the ledger can't be written, there is one warning, and a second create of the session still finds the first", async () => {
  mkdirSync(join(folder, ".."), { recursive: true });
  writeFileSync(folder, "no folder");
  const { ledger, own } = open();
  expect(ledger.claim(own("web"))).toEqual({ kind: "made" });
  expect(ledger.claim(own("mail"))).toEqual({ kind: "made" });
  await ledger.prepare(urn, { at, before: [] });
  expect(ledger.claim(own("web"))).toMatchObject({ kind: "found", record: { at } });
  expect(warnings).toEqual([expect.stringContaining("can't be written")]);
});

test("a file in doubt stops a create also on a full disk", async () => {
  await leaveInDoubt(folder, "web", { at });
  const full = () => {
    throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
  };
  const { ledger, own } = open({ create: full });
  expect(ledger.claim(own("web"))).toMatchObject({ kind: "found", liveness: "dead" });
  expect(ledger.claim(own("db"))).toEqual({ kind: "made" });
  expect(warnings).toHaveLength(1);
});

test("a session that can write nothing takes over no record, and says why", async () => {
  const record = await leaveInDoubt(folder, "web", { at });
  const readOnly = () => {
    throw Object.assign(new Error("read-only"), { code: "EROFS" });
  };
  const lock = () => ({ state: "failed" as const, [Symbol.dispose]: () => undefined });
  const { ledger } = open({ create: readOnly, replace: readOnly, lock });
  expect(ledger.takeOver(record)).toBe(false);
  expect(warnings).toEqual([expect.stringContaining("files can't be written (read-only)")]);
});

test("a change that could not be written is written with the next one", () => {
  let isFull = true;
  const replace: Disk["replace"] = (...file) => {
    if (isFull) throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
    systemDisk.replace(...file);
  };
  const { ledger, own } = open({ replace });
  ledger.claim(own("web"));
  ledger.claim(own("mail"));
  ledger.update(urn, { at, id: "i-1" });
  expect(content("web").id).toBeUndefined();
  isFull = false;
  ledger.update(own("mail").urn, { at });
  expect(content("web")).toMatchObject({ at, id: "i-1" });
  expect(warnings).toHaveLength(1);
});

test("creates that prepare their POSTs at the same time share a sync of the folder", async () => {
  const synced: string[] = [];
  let folders = 0;
  const { ledger, own } = open({
    sync: async (path) => void synced.push(path),
    syncFolder: async () => void folders++,
  });
  const names = ["a", "b", "c"];
  for (const name of names) ledger.claim(own(name));
  await Promise.all(names.map((name) => ledger.prepare(own(name).urn, { at, before: [] })));
  expect(synced.sort()).toEqual(names.map(pathOf).sort());
  expect(folders).toBe(1);
});

test("a file system that says of the session's own new file that it exists is no other run", () => {
  const { ledger, own } = open({
    create: (path, text) => {
      systemDisk.create(path, text);
      throw Object.assign(new Error("exists"), { code: "EEXIST" });
    },
  });
  expect(ledger.claim(own("web"))).toEqual({ kind: "made" });
  ledger.update(urn, { at });
  expect(content("web")).toMatchObject({ at });
});

test.each([
  ["exFAT", "EPERM"],
  ["exFAT on Windows", "EISDIR"],
])("without hard links, as on %s, a file is still made only once", (_where, code) => {
  const path = join(temporaryFolder(), "file");
  const link = () => {
    throw Object.assign(new Error("no links"), { code });
  };
  createComplete(path, "one", link);
  expect(() => createComplete(path, "two", link)).toThrow("EEXIST");
  expect(readFileSync(path, "utf8")).toBe("one");
});

test("if a session can't lock files, whether it is alive is not known", () => {
  const failed = { state: "failed", [Symbol.dispose]: () => undefined } as const;
  const { ledger, own } = open({ lock: () => failed });
  ledger.claim(own("web"));
  expect(open().ledger.find(urn)).toMatchObject({ liveness: "unknown" });
});

test("a session that has ended changes nothing any more", async () => {
  const { ledger, own, session } = open();
  ledger.claim(own("web"));
  await ledger.close();
  const before = content("web");
  ledger.update(urn, { at, givenBy: session });
  ledger.endInOrder();
  expect(content("web")).toEqual(before);
});

test("a session without a folder writes nothing, and still finds its own records", () => {
  const ledger = new Ledger({
    folder: undefined,
    session: "s1",
    warn: (message) => void warnings.push(message),
    clock: { date: () => new Date() },
  });
  const own = ownFields("web", { session: "s1" });
  expect(ledger.claim(own)).toEqual({ kind: "made" });
  ledger.update(urn, { at });
  expect(ledger.claim(own)).toMatchObject({ kind: "found", record: { at } });
  expect(warnings).toEqual([]);
});
