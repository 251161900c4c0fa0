/** Tests real processes that share one ledger: each knows which others are alive, and a record has one owner (G1, G2). */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { openLedger, ownFields } from "../testing/ledgerRecord";
import { temporaryFolder } from "../testing/temporaryFolder";

const script = join(__dirname, "..", "testing", "ledgerProcess.ts");

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

/** Starts one process for each list of arguments, and lets all of them begin their work at the same time. */
async function startTogether(...argumentLists: string[][]): Promise<Child[]> {
  mkdirSync(folder, { recursive: true });
  const started = argumentLists.map((args) => new Child(...args));
  await Promise.all(started.map((child) => child.lines(1)));
  writeFileSync(join(folder, "start"), "");
  return started;
}

test("a session is alive as long as its process runs, and dead after `kill -9`", async () => {
  const child = new Child("other", "hold", "web");
  await child.lines(1);
  const ledger = openLedger(folder, "me");
  const own = ownFields("web", { session: "me" });
  const alive = ledger.claim(own);
  if (alive.kind !== "found") throw new Error("nothing was found");
  expect(alive).toMatchObject({ record: { session: "other" }, liveness: "alive" });
  expect(ledger.takeOver(alive.record)).toBe(false);
  expect(ledger.removeOfDead(alive.record)).toBe(false);
  await child.kill();
  expect(ledger.claim(own)).toMatchObject({ record: { session: "other" }, liveness: "dead" });
  expect(ledger.takeOver(alive.record)).toBe(true);
  const third = openLedger(folder, "third").find(own.urn);
  expect(third).toMatchObject({ record: { session: "me" }, liveness: "alive" });
  await ledger.close();
});

const resources = Array.from({ length: 500 }, (_, n) => `r${n}`);
const urns = resources.map((resource) => ownFields(resource).urn).sort();

/** What the processes have printed after their work. */
const workOf = (children: Child[]) =>
  Promise.all(
    children.map(async (child) => JSON.parse((await child.lines(2))[1] ?? "") as string[]),
  );

test("if two processes make the same 500 records at once, each is made by one of them", async () => {
  const started = await startTogether(
    ...["one", "two"].map((name) => [name, "claim", ...resources]),
  );
  const made = await workOf(started);
  expect(made.flat().sort()).toEqual([...resources].sort());
});

test("if two processes take over the same 500 records of a killed one, each goes to one of them", async () => {
  const killed = new Child("killed", "hold", ...resources);
  await killed.lines(1);
  await killed.kill();
  const started = await startTogether(...["one", "two"].map((name) => [name, "take"]));
  const taken = await workOf(started);
  expect(taken.flat().sort()).toEqual(urns);
  const owners = new Set(
    openLedger(folder)
      .all()
      .map(({ record }) => record.session),
  );
  expect(owners).not.toContain("killed");
});
