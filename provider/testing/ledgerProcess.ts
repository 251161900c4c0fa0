/**
 * A process that uses a ledger, the records of creates in a folder that processes share:
 * `ledgerProcess.ts FOLDER SESSION WORK ARGUMENTS`, where WORK is a key of `works`.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemDisk } from "../ledger/disk";
import { Ledger } from "../ledger/ledger";
import { newRecord } from "./ledgerRecord";

const [folder = "", sessionId = "", work = "", ...args] = process.argv.slice(2);
const say = (line: string) => void process.stdout.write(`${line}\n`);
const openLedger = (id = sessionId, daysAhead = 0) =>
  new Ledger(
    folder,
    id,
    say,
    { date: () => new Date(Date.now() + daysAhead * 24 * 60 * 60 * 1000) },
    systemDisk,
  );
const ledger = openLedger();

/** Waits until the test makes the file `start`, so that all processes begin at the same time. */
function waitForStart(): void {
  say("ready");
  while (!existsSync(join(folder, "start")))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

const works: Record<string, () => Promise<void>> = {
  /** Begins a create, and stays alive as its owner until the process is killed. */
  async hold() {
    say(await ledger.begin(newRecord(sessionId)));
    setInterval(() => undefined, 1000);
  },

  /** Tries to take over the records with these keys, and prints the keys of those that it got. */
  async take() {
    waitForStart();
    const records = new Map(ledger.read().map(({ record }) => [record.key, record]));
    const taken = args.filter((key) => {
      const record = records.get(key);
      return record && ledger.take(record);
    });
    say(JSON.stringify(taken));
    // The process stays alive, because its records would be free again at its end.
    setInterval(() => undefined, 1000);
  },

  /** Begins, changes and settles creates of one resource as fast as possible, and leaves creates of others pending. */
  async hammer() {
    // The ids that a listing showed before the create. Many ids make the writes long.
    const before = Array.from({ length: 50 }, (_, n) => `i-${n}-of-${sessionId}`);
    for (let round = 0; round < Number(args[0]); round++) {
      const shared = await ledger.begin(newRecord("shared", { before }));
      ledger.move(shared, { stage: "accepted", id: "i-shared" });
      // Of the first argument, only the service and the token kind count.
      ledger.settleId(newRecord("shared"), "i-shared", "gone");
      ledger.read();
      await ledger.begin(newRecord(`${sessionId}-${round}`, { before }));
    }
  },

  /** Settles the records with these keys, which are of dead sessions. */
  async settle() {
    waitForStart();
    for (const key of args) ledger.settle(key, "gone");
  },

  /** Opens ledgers with a date one month ahead. Each removes the files that are not needed then. */
  async prune() {
    waitForStart();
    for (let round = 0; round < Number(args[0]); round++) {
      const laterLedger = openLedger(`${sessionId}${round}`, 31);
      ledger.read();
      const key = await laterLedger.begin(newRecord("later"));
      laterLedger.move(key, { stage: "settled", settled: "absent" });
      await laterLedger.close();
    }
  },
};
void works[work]?.();
