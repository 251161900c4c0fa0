/** Real processes with one ledger: what each leaves is whole, and who is alive is known (G1). */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { leaveOpen } from "../testing/ledgerRecord";
import { temporaryFolder } from "../testing/temporaryFolder";
import { Ledger, type LedgerEntry } from "./ledger";

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

class Child {
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

  /** Of what it prints, the first lines. */
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
const look = (session = "me") => new Ledger(folder, session, (text) => warnings.push(text), clock);
const only = (entries: readonly LedgerEntry[]) => {
  expect(entries).toHaveLength(1);
  return entries[0];
};

/** Children that are at it at the same time. */
async function atOnce(...all: string[][]): Promise<Child[]> {
  const started = all.map((args) => new Child(...args));
  await Promise.all(started.map((child) => child.lines(1)));
  writeFileSync(join(folder, "start"), "");
  return started;
}

test("a session is alive as long as its process, and dead after `kill -9`", async () => {
  const child = new Child("other", "hold");
  const [key = ""] = await child.lines(1);
  const ledger = look();
  expect(only(ledger.read())).toMatchObject({
    ...{ record: { key, stage: "sending" }, inFlight: true, own: false, unlockable: false },
  });
  expect(ledger.take(key)).toBe(false);
  expect(ledger.settle(key, "discarded")).toBe(false);
  await child.kill();
  expect(only(ledger.read())).toMatchObject({ record: { key }, inFlight: false });
  expect(ledger.take(key)).toBe(true);
  expect(only(ledger.read())).toMatchObject({ inFlight: true, own: true });
  expect(only(look("third").read())).toMatchObject({ inFlight: true, own: false });
  await ledger.close();
  expect(child.printed).toBe(`${key}\n`);
});

test("of two processes that take the same records at once, each gets what the other does not", async () => {
  const left = await Promise.all(
    Array.from({ length: 60 }, (_, n) => leaveOpen(folder, `web${n}`, { stage: "unknown" })),
  );
  const keys = left.map(({ key }) => key);
  const takers = await atOnce(["one", "take", ...keys], ["two", "take", ...keys]);
  const taken = await Promise.all(
    takers.map(async (child) => JSON.parse((await child.lines(2))[1] ?? "") as string[]),
  );
  expect(taken.flat().sort()).toEqual(keys.sort());
  const owners = new Map(
    look()
      .read()
      .map(({ record, inFlight }) => [record.key, { owner: record.owner, inFlight }]),
  );
  taken.forEach((ofIt, n) => {
    const owner = ["one", "two"][n];
    for (const key of ofIt) expect(owners.get(key)).toEqual({ owner, inFlight: true });
  });
});

test("nothing comes back when files are pruned while others settle in them (defect 30)", async () => {
  const left = [];
  for (let n = 0; n < 80; n++) {
    left.push(await leaveOpen(folder, `web${n}`, { stage: "accepted", id: `i-${n}` }));
  }
  const keys = left.map(({ key }) => key);
  await atOnce(
    ["one", "settle", ...keys],
    ["two", "settle", ...[...keys].reverse()],
    ["three", "prune", "60"],
  );
  await Promise.all(children.map((child) => child.ended));

  expect(children.map(({ printed }) => printed)).toEqual(children.map(() => "ready\n"));
  expect(
    look()
      .read()
      .filter(({ record }) => record.stage !== "settled"),
  ).toEqual([]);
  await new Child("four", "prune", "1").ended;
  expect(readdirSync(folder).sort()).toEqual(["four0.jsonl", "four0.lock", "start", "take.lock"]);
});

test("two processes that hammer one ledger spoil nothing of each other", async () => {
  const rounds = 150;
  const names = ["one", "two"];
  mkdirSync(folder, { recursive: true });
  await Promise.all(names.map((name) => new Child(name, "hammer", `${rounds}`).ended));

  expect(children.map(({ printed }) => printed)).toEqual(["", ""]);
  const entries = look().read();
  const open = entries.filter(({ record }) => record.stage === "sending");
  expect(open.map(({ record }) => record.name).sort()).toEqual(
    names.flatMap((name) => Array.from({ length: rounds }, (_, n) => `${name}-${n}`)).sort(),
  );
  const shared = entries.filter(({ record }) => record.name === "shared");
  expect(shared).toHaveLength(names.length * rounds);
  for (const { record } of shared) expect(record).toMatchObject({ settled: "state" });
  expect(entries.filter(({ inFlight }) => inFlight)).toEqual([]);
  expect(warnings).toEqual([]);
  expect(existsSync(join(folder, "take.lock"))).toBe(true);
});
