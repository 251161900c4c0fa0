/** Tests real processes that share one ledger: no record is damaged, and each knows which others are alive (G1). */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { leaveOpen, newRecord } from "../testing/ledgerRecord";
import { temporaryFolder } from "../testing/temporaryFolder";
import { Ledger } from "./ledger";
import { isInFlight } from "./record";

const script = join(__dirname, "..", "testing", "ledgerProcess.ts");
const clock = { date: () => new Date() };

let folder: string;
let children: Child[];
beforeEach(() => {
  folder = join(temporaryFolder(), "not", "made", "yet");
  children = [];
});
afterEach(async () => {
  await Promise.all(children.map((child) => child.kill()));
});

/** A process that runs `testing/ledgerProcess.ts` with these arguments. */
class Child {
  /** What the process has printed so far. */
  printed = "";
  readonly #process: ChildProcess;
  readonly ended: Promise<unknown>;
  #onPrinted = () => {};

  constructor(...args: string[]) {
    this.#process = spawn(process.execPath, ["--import", "tsx", script, folder, ...args]);
    this.ended = once(this.#process, "close");
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.printed += chunk.toString();
        this.#onPrinted();
      });
    }
    children.push(this);
  }

  /** Resolves to the lines that the process has printed, once there are at least `count`. */
  async lines(count: number): Promise<string[]> {
    const lines = () => this.printed.split("\n").slice(0, -1);
    while (lines().length < count) {
      await new Promise<void>((resolve) => (this.#onPrinted = resolve));
    }
    return lines();
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.ended;
  }
}

const warnings: string[] = [];
/** Opens the ledger in this process. */
const openLedger = (sessionId = "me") =>
  new Ledger(folder, sessionId, (message) => warnings.push(message), clock);

/** Starts one process for each list of arguments, and lets all of them begin their work at the same time. */
async function startTogether(...argumentLists: string[][]): Promise<Child[]> {
  const started = argumentLists.map((args) => new Child(...args));
  await Promise.all(started.map((child) => child.lines(1)));
  writeFileSync(join(folder, "start"), "");
  return started;
}

test("a session is alive as long as its process runs, and dead after `kill -9`", async () => {
  const child = new Child("other", "hold");
  const [key = ""] = await child.lines(1);
  const ledger = openLedger();
  const [alive] = ledger.read();
  expect(alive).toMatchObject({ record: { key, stage: "sending" }, liveness: "alive" });
  expect(alive && ledger.take(alive.record)).toBe(false);
  expect(ledger.settle(key, "discarded")).toBe(false);
  await child.kill();
  const [dead] = ledger.read();
  expect(dead).toMatchObject({ record: { key }, liveness: "dead" });
  expect(dead && ledger.take(dead.record)).toBe(true);
  for (const reader of [ledger, openLedger("third")]) {
    expect(reader.read()).toMatchObject([{ record: { owner: "me" }, liveness: "alive" }]);
  }
  await ledger.close();
  expect(child.printed).toBe(`${key}\n`);
});

/** Leaves this many pending creates of one dead session. Returns their keys. */
async function leaveMany(sessionId: string, count: number): Promise<string[]> {
  const ledger = openLedger(sessionId);
  const names = Array.from({ length: count }, (_, n) => `${sessionId}-${n}`);
  const keys = await Promise.all(names.map((name) => ledger.begin(newRecord(name))));
  await ledger.close();
  return keys;
}

test("if two processes try to take the same 1,000 records at once, each record goes to one of them", async () => {
  const sessionIds = Array.from({ length: 10 }, (_, n) => `dead${n}`);
  const keys = (await Promise.all(sessionIds.map((id) => leaveMany(id, 100)))).flat();
  const names = ["one", "two"];
  const takers = await startTogether(...names.map((name) => [name, "take", ...keys]));
  const taken = await Promise.all(
    takers.map(async (child) => JSON.parse((await child.lines(2))[1] ?? "") as string[]),
  );
  expect(taken.flat().sort()).toEqual(keys.sort());
  const owners = new Map(
    openLedger()
      .read()
      .map(({ record, liveness }) => [record.key, `${record.owner} ${liveness}`]),
  );
  for (const [n, name] of names.entries()) {
    const ownersOfTaken = taken[n]?.map((key) => owners.get(key)) ?? [];
    expect(ownersOfTaken).toEqual(ownersOfTaken.map(() => `${name} alive`));
  }
});

test("no removed file comes back if files are pruned while other processes settle records in them", async () => {
  const records = [];
  for (let n = 0; n < 80; n++) {
    records.push(await leaveOpen(folder, `web${n}`, { stage: "accepted", id: `i-${n}` }));
  }
  const keys = records.map(({ key }) => key);
  await startTogether(
    ["one", "settle", ...keys],
    ["two", "settle", ...[...keys].reverse()],
    ["three", "prune", "60"],
  );
  await Promise.all(children.map((child) => child.ended));

  expect(children.map(({ printed }) => printed)).toEqual(children.map(() => "ready\n"));
  expect(
    openLedger()
      .read()
      .filter(({ record }) => record.stage !== "settled"),
  ).toEqual([]);
  await new Child("four", "prune", "1").ended;
  expect(readdirSync(folder).sort()).toEqual(["common.lock", "four0.jsonl", "four0.lock", "start"]);
});

test("two processes that write to one ledger without a pause damage no record", async () => {
  const rounds = 150;
  const names = ["one", "two"];
  mkdirSync(folder, { recursive: true });
  await Promise.all(names.map((name) => new Child(name, "hammer", `${rounds}`).ended));

  expect(children.map(({ printed }) => printed)).toEqual(["", ""]);
  const entries = openLedger().read();
  const sending = entries.filter(({ record }) => record.stage === "sending");
  expect(sending.map(({ record }) => record.name).sort()).toEqual(
    names.flatMap((name) => Array.from({ length: rounds }, (_, n) => `${name}-${n}`)).sort(),
  );
  const shared = entries.filter(({ record }) => record.name === "shared");
  expect(shared).toHaveLength(names.length * rounds);
  for (const { record } of shared) expect(record).toMatchObject({ settled: "gone" });
  expect(entries.filter(isInFlight)).toEqual([]);
  expect(warnings).toEqual([]);
  expect(existsSync(join(folder, "common.lock"))).toBe(true);
});
