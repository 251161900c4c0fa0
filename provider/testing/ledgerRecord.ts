/** Ledger records for tests: those of new creates, and those that a dead session has left in doubt. */
import { randomBytes } from "node:crypto";
import { systemClock } from "../clock";
import { Ledger } from "../ledger/ledger";
import type { LedgerRecord, Identity } from "../ledger/record";
import { instanceToken } from "../pulumi/names";

/** What a create knows of itself when it makes its record. */
export function ownFields(resource: string, more: Partial<Identity> = {}): Identity {
  return {
    session: "0123456789ab",
    baseUrl: "https://api.example.com/v2",
    tokenKind: "test",
    tokenHash: "0123456789ab",
    scope: "0f1e2d3c",
    urn: `urn:pulumi:dev::proj::${instanceToken}::${resource}`,
    name: resource,
    kind: "explicit",
    digest: "d",
    ...more,
  };
}

/** The record of a create that may have sent its POST. */
export function ledgerRecord(resource: string, more: Partial<LedgerRecord> = {}): LedgerRecord {
  return { ...ownFields(resource), before: [], at: "2026-01-01T00:00:00.000Z", ...more };
}

/** Opens a ledger. */
export function openLedger(folder: string, session = randomBytes(6).toString("hex")): Ledger {
  return new Ledger({ folder, session, warn: () => undefined, clock: systemClock });
}

/** Lets a session begin a create and die, with its record as in `more`. Returns the record. */
export async function leaveInDoubt(
  folder: string,
  resource: string,
  more: Partial<Omit<LedgerRecord, "session">> = {},
): Promise<LedgerRecord> {
  await using running = beginCreate(folder, resource, more);
  return running.record;
}

/** A create that is under way until it is disposed of. */
interface RunningCreate extends AsyncDisposable {
  readonly record: LedgerRecord;
}

/** Lets a session begin a create, with its record as in `more`. */
export function beginCreate(
  folder: string,
  resource: string,
  more: Partial<Omit<LedgerRecord, "session">> = {},
): RunningCreate {
  const session = randomBytes(6).toString("hex");
  const ledger = openLedger(folder, session);
  const record = ledgerRecord(resource, { ...more, session });
  const { before, at, id, givenBy, accepted, ...own } = record;
  ledger.claim(own);
  ledger.update(own.urn, { before, at, id, givenBy, accepted });
  return { record, [Symbol.asyncDispose]: () => ledger.close() };
}
