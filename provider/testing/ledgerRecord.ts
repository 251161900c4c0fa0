import { randomBytes } from "node:crypto";
import { Ledger } from "../ledger/ledger";
import type { LedgerRecord, NewRecord } from "../ledger/record";
import { instanceToken } from "../pulumiNames";

/** What a create tells the ledger when it begins. */
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

/** What the ledger has of a create whose session has died, by default while its POST was under way. */
export function ledgerRecord(resource: string, more: Partial<LedgerRecord> = {}): LedgerRecord {
  const session = more.session ?? "0123456789ab";
  return {
    ...newRecord(resource),
    ...{ key: `${session}-1`, session, owner: session, stage: "sending" },
    ...more,
  };
}

/** A session that began this create, brought it that far, and died; gives its record. */
export async function leaveOpen(
  folder: string,
  resource: string,
  more: Partial<Omit<LedgerRecord, "key" | "session" | "owner">> = {},
): Promise<LedgerRecord> {
  const session = randomBytes(6).toString("hex");
  const ledger = new Ledger(folder, session, () => undefined, { date: () => new Date() });
  const { stage, id, accepted, settled, ended, ...fields } = more;
  const key = await ledger.begin(newRecord(resource, fields));
  const given = Object.entries({ stage, id, accepted, settled, ended });
  const change = Object.fromEntries(given.filter(([, it]) => it !== undefined));
  if (Object.keys(change).length > 0) ledger.move(key, change);
  await ledger.close();
  return ledgerRecord(resource, { session, key, ...more });
}
