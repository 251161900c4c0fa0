import type { JournalEntry } from "../journal/entry";
import { instanceToken } from "../tokens";

/** What the journal has of a create that is under way: no id yet. */
export function journalEntry(resource: string, more: Partial<JournalEntry> = {}): JournalEntry {
  return {
    baseUrl: "https://api.example.com/v2",
    tokenKind: "test",
    tokenHash: "0123456789ab",
    urn: `urn:pulumi:dev::proj::${instanceToken}::${resource}`,
    name: resource,
    digest: "d",
    at: "2026-01-01T00:00:00.000Z",
    before: [],
    beforeComplete: true,
    replaces: false,
    ...more,
  };
}
