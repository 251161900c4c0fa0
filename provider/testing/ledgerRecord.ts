/** Ledger records for tests: new ones, and those that a dead session has left. */
import { randomBytes } from "node:crypto";
import { Ledger } from "../ledger/ledger";
import type { LedgerRecord, NewRecord } from "../ledger/record";
import { instanceToken } from "../pulumiNames";

/** The fields that a create writes to the ledger when it begins. */
export function newRecord(resource: string, more: Partial<NewRecord> = {}): NewRecord {
  return {
    baseUrl: "https://api.example.com/v2",
    tokenKind: "test",
    tokenHash: "0123456789ab",
    scope: "0f1e2d3c",
    urn: `urn:pulumi:dev::proj::${instanceToken}::${resource}`,
    name: resource,
    kind: "explicit",
    digest: "d",
    at: "2026-01-01T00:00:00.000Z",
    before: [],
    ...more,
  };
}

/** The record of a create whose session has died. By default its POST was under way (stage "sending"). */
export function ledgerRecord(resource: string, more: Partial<LedgerRecord> = {}): LedgerRecord {
  const sessionId = more.session ?? "0123456789ab";
  return {
    ...newRecord(resource),
    key: `${sessionId}-1`,
    session: sessionId,
    owner: sessionId,
    stage: "sending",
    ...more,
  };
}

/** Lets a session begin a create, change the record to the fields in `more`, and end. Returns the record. */
export async function leaveOpen(
  folder: string,
  resource: string,
  more: Partial<Omit<LedgerRecord, "key" | "session" | "owner">> = {},
): Promise<LedgerRecord> {
  const sessionId = randomBytes(6).toString("hex");
  const ledger = new Ledger(folder, sessionId, () => undefined, { date: () => new Date() });
  const { stage = "sending", id, accepted, settled, ended, ...fields } = more;
  const key = await ledger.begin(newRecord(resource, fields));
  ledger.move(key, { stage, id, accepted, settled, ended });
  await ledger.close();
  return ledgerRecord(resource, { session: sessionId, key, ...more });
}
