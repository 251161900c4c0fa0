/** A process with a ledger: `ledgerProcess.ts FOLDER SESSION WORK ARGUMENTS`. Prints every warning. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Ledger } from "../ledger/ledger";
import { newRecord } from "./ledgerRecord";

const [folder = "", session = "", work = "", ...args] = process.argv.slice(2);
const say = (line: string) => void process.stdout.write(`${line}\n`);
const open = (id = session, daysAhead = 0) =>
  new Ledger(folder, id, say, {
    date: () => new Date(Date.now() + daysAhead * 24 * 60 * 60 * 1000),
  });
const ledger = open();

/** Waits until the test says that all processes are ready, so that they work at the same time. */
function start(): void {
  say("ready");
  while (!existsSync(join(folder, "start")))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

const works: Record<string, () => Promise<void>> = {
  /** Begins a create, and drives it until the process is killed. */
  async hold() {
    say(await ledger.begin(newRecord(session)));
    setInterval(() => undefined, 1000);
  },

  /** Tries to take over each of these records. */
  async take() {
    start();
    const taken = args.filter((key) => {
      ledger.read();
      return ledger.take(key);
    });
    say(JSON.stringify(taken));
    // At the end of the process its records would be free again.
    setInterval(() => undefined, 1000);
  },

  /** Begins, moves and settles creates as fast as it can, and leaves others pending. */
  async hammer() {
    const before = Array.from({ length: 50 }, (_, n) => `i-${n}-of-${session}`);
    for (let round = 0; round < Number(args[0]); round++) {
      const shared = await ledger.begin(newRecord("shared", { before }));
      ledger.move(shared, { stage: "accepted", id: "i-shared" });
      ledger.settleId(newRecord("shared"), "i-shared", "state");
      ledger.read();
      await ledger.begin(newRecord(`${session}-${round}`, { before }));
    }
  },

  /** Settles these records, of dead sessions, one after the other. */
  async settle() {
    start();
    for (const key of args) ledger.settle(key, "gone");
  },

  /** Sessions of a month later, each of which removes the files that are not needed any more. */
  async prune() {
    start();
    for (let round = 0; round < Number(args[0]); round++) {
      const later = open(`${session}${round}`, 31);
      ledger.read();
      later.drop(await later.begin(newRecord("later")));
      await later.close();
    }
  },
};
void works[work]?.();
