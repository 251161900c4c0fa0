/** The records of creates in doubt in the ledgers on this machine, as the commands see them. */
import { inStack, settleCommand } from "../provider/advice";
import { systemClock } from "../provider/clock";
import { ledgerFolder, ledgerFolders } from "../provider/ledger/folder";
import { Ledger } from "../provider/ledger/ledger";
import type { LedgerRecord, Liveness } from "../provider/ledger/record";

/** A create on this machine whose instance may be in no state. */
export interface RecordedCreate extends LedgerRecord {
  /** When the POST was about to be sent, or ended (ISO 8601). */
  readonly at: string;
  /** Whether its owner is alive. */
  readonly liveness: Liveness;
  /** Whether the create was started with the state backend that is in use now. */
  readonly isHere: boolean;
  /** Ends the doubt: the file goes, unless a run has changed it meanwhile. Returns whether there is none any more. */
  readonly settle: () => boolean;
}

/** Reads the creates in doubt of all state backends, also those of runs that are under way. The latest comes first. */
export function readRecords(
  env: NodeJS.ProcessEnv,
  warn: (message: string) => void,
): RecordedCreate[] {
  const here = ledgerFolder(env);
  const creates = ledgerFolders(env).flatMap((folder) =>
    recordsIn(new Ledger({ folder, warn, clock: systemClock }), folder === here),
  );
  return creates.sort((one, other) => (one.at > other.at ? -1 : 1));
}

/** Returns the creates in doubt of one state backend. */
export function recordsIn(ledger: Ledger, isHere: boolean): RecordedCreate[] {
  return ledger.all().flatMap(({ record, liveness }) => {
    const { at } = record;
    const settle = () => ledger.forget(record);
    return at === undefined ? [] : [{ ...record, at, liveness, isHere, settle }];
  });
}

/** Says what to do about creates of this stack, or of any. A clause. */
export function settleAdvice(stack?: string): string {
  return `\`${inStack(settleCommand(), stack)}\` in the folder of its project puts it right`;
}
