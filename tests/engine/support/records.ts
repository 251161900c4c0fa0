/** What the ledger of a stack's Pulumi home holds. */
import { systemClock } from "../../../provider/clock";
import { ledgerFolders } from "../../../provider/ledger/folder";
import { Ledger } from "../../../provider/ledger/ledger";
import type { LedgerRecord } from "../../../provider/ledger/record";
import type { Stack } from "./stack";

/** All records, oldest first. */
export function recordsOf({ home }: Stack): LedgerRecord[] {
  return ledgerFolders({ PULUMI_HOME: home })
    .flatMap((folder) => new Ledger(folder, "looking", () => undefined, systemClock).read())
    .map(({ record }) => record)
    .sort((one, other) => one.at.localeCompare(other.at));
}
