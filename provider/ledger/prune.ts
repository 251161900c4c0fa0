/** What is removed from the ledger, and when. */
import type { Disk } from "./disk";
import { settleExpired, deliveredMs, type LedgerRecord } from "./record";
import type { SessionFile } from "./sessionFile";
import type { Sessions } from "./sessions";

/** How long a dead session's file is kept after the last write, once all in it is settled. */
const keptMs = 7 * 24 * 60 * 60 * 1000;

/** Whether nothing of it can change any more, once its session is dead. */
export function isSettled({ records }: SessionFile, now: Date): boolean {
  return [...records.values()].every((it) =>
    ["settled", "refused"].includes(settleExpired(now, it).stage),
  );
}

/** Whether no record in it made an instance: it tells a later run nothing. */
export function isWorthless({ records, damaged, isCut }: SessionFile): boolean {
  const isNothing = ({ settled, id }: LedgerRecord) => settled === "absent" && id === undefined;
  return damaged === 0 && !isCut && [...records.values()].every(isNothing);
}

/** Whether a file may be removed, given that it is settled and its session dead. */
export function isNoMoreNeeded(disk: Disk, file: SessionFile, now: Date): boolean {
  const age = ageOf(disk, file.path, now);
  // What can't be read may be of an instance.
  if (file.damaged > 0 || file.isCut) return age > deliveredMs;
  return age > keptMs || isWorthless(file);
}

/** Removes locks whose file is gone: their sessions were killed in between. Only under the lock of `sessions`. */
export function removeOldLocks(disk: Disk, sessions: Sessions, now: Date): void {
  const withFile = new Set(sessions.withFile());
  for (const { session, path } of sessions.withLock()) {
    if (withFile.has(session) || ageOf(disk, path, now) < keptMs) continue;
    if (sessions.look(session) === "dead") sessions.forget(session);
  }
}

/** In milliseconds, since it was last written to; a file that is not there any more is new. */
function ageOf(disk: Disk, path: string, now: Date): number {
  const { mtimeMs } = disk.stat(path) ?? {};
  return mtimeMs === undefined ? 0 : now.getTime() - mtimeMs;
}
