/**
 * A process that uses a ledger, a folder that processes share: `ledgerProcess.ts FOLDER SESSION WORK ARGUMENTS`, where WORK is a
 * key of `works`.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LedgerRecord } from "../ledger/record";
import { openLedger, ownFields } from "./ledgerRecord";

const [folder = "", session = "", work = "", ...args] = process.argv.slice(2);
const say = (line: string) => void process.stdout.write(`${line}\n`);
const ledger = openLedger(folder, session);

/** Waits until the test makes the file `start`, so that all processes begin at the same time. */
function waitForStart(): void {
  say("ready");
  while (!existsSync(join(folder, "start")))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

/** Stays alive until the process is killed: its records would be free at its end. */
function stayAlive(): void {
  setInterval(() => undefined, 1000);
}

/** Begins a create. Returns whether it has made the record. */
async function begin(resource: string): Promise<boolean> {
  const own = ownFields(resource, { session });
  if (ledger.claim(own).kind !== "made") return false;
  await ledger.prepare(own.urn, { at: new Date().toISOString(), before: [] });
  return true;
}

const works: Record<string, () => Promise<void>> = {
  /** Begins creates of these resources, and stays alive as their owner. */
  async hold() {
    for (const resource of args) await begin(resource);
    say("held");
    stayAlive();
  },

  /** Begins creates of these resources at the start, and prints those whose record it has made. */
  async claim() {
    waitForStart();
    const made: string[] = [];
    for (const resource of args) if (await begin(resource)) made.push(resource);
    say(JSON.stringify(made));
    stayAlive();
  },

  /** Tries to take over each record of a dead owner at the start, and prints the URNs of those that it got. */
  async take() {
    waitForStart();
    const records: LedgerRecord[] = ledger.all().map(({ record }) => record);
    say(JSON.stringify(records.filter((record) => ledger.takeOver(record)).map(({ urn }) => urn)));
    stayAlive();
  },
};
void works[work]?.();
