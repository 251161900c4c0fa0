/** The creates in doubt in the ledgers on this machine, as the commands see them. */
import { randomBytes } from "node:crypto";
import { settleCommand } from "../provider/advice";
import { systemClock } from "../provider/clock";
import { ledgerFolder, ledgerFolders } from "../provider/ledger/folder";
import { Ledger } from "../provider/ledger/ledger";
import type { Found, LedgerRecord, Liveness } from "../provider/ledger/record";

/** A create in one of the ledgers on this machine, and that ledger, which has the creates of one state backend. */
export interface RecordedCreate extends Found {
  ledger: Ledger;
  /** Whether the create was started with the state backend that is in use now. */
  isHere: boolean;
}

type Warn = (message: string) => void;

/** Reads the creates of all state backends that are in doubt, also those of runs that are under way. */
export function readCreates(env: NodeJS.ProcessEnv, warn: Warn): RecordedCreate[] {
  const here = ledgerFolder(env);
  return ledgerFolders(env).flatMap((folder) => {
    const session = randomBytes(6).toString("hex");
    const ledger = new Ledger({ folder, session, warn, clock: systemClock });
    const sent = ledger.all().filter(({ record }) => record.at !== undefined);
    return sent.map((found) => ({ ...found, ledger, isHere: folder === here }));
  });
}

/** Says what to do about creates of this stack, or of any. A clause. */
export function settleAdvice(stack?: string): string {
  const options = stack === undefined ? [] : ["--stack", stack];
  return `\`${settleCommand(...options)}\` in the folder of its project puts it right`;
}

/** A create on this machine whose instance may be in no state. */
export interface CreateInDoubt extends LedgerRecord {
  /** When the POST was about to be sent, or ended (ISO 8601). */
  readonly at: string;
  /** Whether its owner is alive. */
  readonly liveness: Liveness;
  /** As in `RecordedCreate`. */
  readonly isHere: boolean;
  /** Ends the doubt: the file goes. Returns whether it has. */
  readonly settle: () => boolean;
}

/** Returns what `settle` needs of a create. */
export function createInDoubt({ record, liveness, ledger, isHere }: RecordedCreate): CreateInDoubt {
  const { at = "" } = record;
  return { ...record, at, liveness, isHere, settle: () => ledger.forget(record) };
}
