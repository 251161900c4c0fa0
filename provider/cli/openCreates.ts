/** The pending creates (G1) of every state backend that was used on this machine. */
import { randomBytes } from "node:crypto";
import { systemClock } from "../clock";
import { ledgerFolder, ledgerFolders } from "../ledger/folder";
import { Ledger, type LedgerEntry } from "../ledger/ledger";
import { isPending, type LedgerRecord } from "../ledger/record";

export interface OpenCreate extends Omit<LedgerEntry, "own"> {
  ledger: Ledger;
  /** Whether a run here has the state backend of the one that began it. */
  isHere: boolean;
}

/** The pending creates of runs that have ended. */
export function openCreates(env: NodeJS.ProcessEnv, warn: (text: string) => void): OpenCreate[] {
  return allCreates(env, warn).filter(({ record, live }) => isPending(record) && !live);
}

/** Every record of the ledger, settled ones too. */
export function allCreates(env: NodeJS.ProcessEnv, warn: (text: string) => void): OpenCreate[] {
  const here = ledgerFolder(env);
  return ledgerFolders(env).flatMap((folder) => {
    const ledger = new Ledger(folder, randomBytes(6).toString("hex"), warn, systemClock);
    return ledger.read().map((entry) => ({ ...entry, ledger, isHere: folder === here }));
  });
}

/** Whether the next `pulumi up` of its stack tries to resume it; else that stops or names it, with what to type. */
export function isResumed({
  stage,
  stateless,
}: Pick<LedgerRecord, "stage" | "stateless">): boolean {
  return stage !== "replied" && !stateless;
}
