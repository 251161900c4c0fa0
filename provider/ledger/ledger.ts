/**
 * The ledger of pending creates in the Pulumi home. A run that is killed between a POST and the response leaves its record
 * to the next run, so that no created instance is lost (G1). A disk error causes a warning, and never fails an operation.
 */
import { isSamePlace, type Place } from "../origin";
import { isSameResource } from "../pulumiNames";
import { isMissing, systemDisk, type Disk, type Lock } from "./disk";
import {
  deliveredMs,
  isAllowedChange,
  isPending,
  settleExpired,
  type LedgerRecord,
  type NewRecord,
  type SettleReason,
} from "./record";
import { SessionFile } from "./sessionFile";
import { Sessions } from "./sessions";

/** A record, and what is known about its owner, which is the session that drives the create. */
export interface LedgerEntry {
  record: LedgerRecord;
  /** Whether the create is pending, the owner is alive and the owner's Create call has not ended. */
  inFlight: boolean;
  /**
   * Whether the owner is known to be alive. If so, its engine may still save the result in the state. Only owners of
   * pending records are tested, so for other records a false proves nothing.
   */
  live: boolean;
  /** Whether the create is pending, and locks can't show whether the owner is alive. */
  unlockable: boolean;
}

/** The fields of a record that may change. */
type Change = Partial<Pick<LedgerRecord, "stage" | "id" | "accepted" | "at" | "ended" | "settled">>;

/** How long a dead session's file without a pending record is kept. A damaged one is kept for `deliveredMs`. */
const settledFileKeptMs = 7 * 24 * 60 * 60 * 1000;

/** The records of one state backend on this machine, as one session reads and writes them. */
export class Ledger {
  readonly #folder: string;
  readonly #sessionId: string;
  readonly #warn: (message: string) => void;
  readonly #clock: { date(): Date };
  readonly #disk: Disk;
  readonly #sessions: Sessions;
  /** This session's file, which is made with the first record. */
  readonly #ownFile: SessionFile;
  /** The files by session id. */
  readonly #files = new Map<string, SessionFile>();
  readonly #warnedSubjects = new Set<string>();
  /** Whether this session's file was made, and its lock, if files can be locked. */
  #isOpened = false;
  #lock: Lock | undefined;
  /** How many records this session has begun. */
  #recordCount = 0;
  /** The sync that is under way, or the last one. */
  #lastSync = Promise.resolve();
  /** The sync that begins after `#lastSync`, if a caller waits for it. */
  #nextSync: Promise<void> | undefined;
  #isFolderSynced = false;
  /** Set when the session has ended. Resolves when the lock is released. */
  #closed: Promise<void> | undefined;

  /** @param sessionId letters and digits, different for each session */
  constructor(
    folder: string,
    sessionId: string,
    warn: (message: string) => void,
    clock: { date(): Date },
    disk: Disk = systemDisk,
  ) {
    this.#folder = folder;
    this.#sessionId = sessionId;
    this.#warn = warn;
    this.#clock = clock;
    this.#disk = disk;
    this.#sessions = new Sessions(folder, sessionId, disk);
    this.#ownFile = new SessionFile(sessionId, folder, disk);
    this.#files.set(sessionId, this.#ownFile);
  }

  /** Records that a POST is about to be sent. Resolves to the record's key once the record is synced, or after a warning. */
  async begin(fields: NewRecord): Promise<string> {
    const sessionId = this.#sessionId;
    const key = `${sessionId}-${++this.#recordCount}`;
    this.#open();
    if (this.#write([{ ...fields, key, session: sessionId, owner: sessionId, stage: "sending" }])) {
      await this.#sync().catch((error: unknown) => this.#warnOfWrite(error));
    }
    return key;
  }

  /** Changes a record that this session owns, at once and without a sync. */
  move(key: string, change: Change): void {
    const record = this.#findRecord(key);
    if (record?.owner === this.#sessionId) this.#write([{ ...record, ...change }]);
  }

  /** Returns all records of this backend, including those of other sessions. */
  read(): LedgerEntry[] {
    this.#refreshAll();
    const records = this.#allRecords();
    const files = [...this.#files.values()];
    const liveness = this.#sessions.livenessOf([
      ...records.filter(isPending).map(({ owner }) => owner),
      ...files.filter((it) => it.endsWithinLine).map(({ sessionId }) => sessionId),
    ]);
    for (const file of files) {
      // A live session may be writing its last line.
      const isCutOff = file.endsWithinLine && liveness.get(file.sessionId) !== "alive";
      if (isCutOff || file.isDamaged) this.#warnOfFile(file);
    }
    const now = this.#clock.date();
    return records.map((record) => {
      const live = liveness.get(record.owner) === "alive";
      return {
        record: settleExpired(record, now),
        inFlight: isPending(record) && !record.ended && live,
        live,
        unlockable: isPending(record) && liveness.get(record.owner) === "unknown",
      };
    });
  }

  /**
   * Makes this session the owner of a pending record, as `read` returned it, that no call drives. Returns false if a live
   * call drives the record, if it has changed meanwhile, if the common lock (see `Sessions`) is held for too long or, for
   * another session's record, if a file can't be locked or written. If several sessions try, at most one succeeds.
   */
  take(record: LedgerRecord): boolean {
    const isOwn = record.owner === this.#sessionId;
    // Other sessions have to see that the new owner is alive.
    if (!isOwn && !(this.#open() && this.#lock)) return false;
    const isTaken = this.#sessions.runLocked((isLocked) => {
      this.#refreshAll();
      if (record !== this.#findRecord(record.key) || !isPending(record)) return false;
      if (!isOwn && !isLocked) return false;
      const { ended, ...rest } = record;
      if (!ended && this.#sessions.testLiveness(record.owner) !== "dead") return false;
      const taken = { ...rest, owner: this.#sessionId };
      if (!isOwn) return this.#append(record.session, [taken]);
      this.#write([taken]);
      return true;
    });
    return isTaken ?? false;
  }

  /**
   * Settles a record of any session, unless a call of another live session drives it. Returns whether the change was
   * written.
   */
  settle(key: string, reason: SettleReason): boolean {
    return this.#settle(
      reason,
      (it) => it.key === key,
      (it) => !this.#isDrivenElsewhere(it),
    );
  }

  /** Settles the records with this place (service and token kind) and instance id, whichever session owns them. */
  settleId(place: Place, id: string, reason: SettleReason): void {
    this.#settle(reason, (it) => it.id === id && it.settled !== reason && isSamePlace(it, place));
  }

  /**
   * Records that an import, perhaps only a previewed one, gives the engine this instance. Its pending record is found by id
   * or, if no record has the id, by resource and name. The record becomes `replied`: no run resumes the create any more, and
   * the next create of the resource stops and names the instance. Skips what a call of another live session drives.
   */
  markImported(place: Place, urn: string, id: string, names: readonly string[]): void {
    const mayHaveMadeIt = (it: LedgerRecord) =>
      isSameResource(it.urn, urn) && names.includes(it.name) && !it.before.includes(id);
    const select = (records: LedgerRecord[]): LedgerRecord[] => {
      const recordsOfPlace = records.filter((it) => isSamePlace(it, place));
      const withId = recordsOfPlace.filter((it) => it.id === id);
      if (withId.length > 0) return withId.filter((it) => isPending(it) && it.stage !== "replied");
      // Only one of several creates with the same name made the instance, so only one record changes.
      return recordsOfPlace
        .filter((it) => it.id === undefined && isPending(it) && mayHaveMadeIt(it))
        .slice(0, 1);
    };
    const change = { id, stage: "replied", ended: true } as const;
    this.#changeAll(select, change, (it) => !this.#isDrivenElsewhere(it));
  }

  /** Moves this session's `replied` records to `delivered`, when the session ends normally. Its engine has every reply. */
  markDelivered(): void {
    this.#refreshAll();
    const replied = this.#allRecords().filter(
      ({ owner, stage }) => owner === this.#sessionId && stage === "replied",
    );
    this.#write(replied.map((record) => ({ ...record, stage: "delivered" })));
  }

  /** Ends the session. Writes nothing any more, and releases the session's lock after the last sync. Never rejects. */
  close(): Promise<void> {
    this.#closed ??= (this.#nextSync ?? this.#lastSync)
      .catch(() => undefined)
      .then(() => this.#lock?.release());
    return this.#closed;
  }

  #settle(
    reason: SettleReason,
    matches: (record: LedgerRecord) => boolean,
    isFree?: (record: LedgerRecord) => boolean,
  ): boolean {
    const change = { stage: "settled", settled: reason } as const;
    const isSelected = (it: LedgerRecord) => matches(it) && isAllowedChange(it, change);
    return this.#changeAll((records) => records.filter(isSelected), change, isFree);
  }

  /**
   * Changes those of the selected records that are `isFree`. Holds the common lock, so that no other session takes a record
   * over or removes a file meanwhile (without locks, none does either). Returns whether a change was written.
   */
  #changeAll(
    select: (records: LedgerRecord[]) => LedgerRecord[],
    change: Change,
    isFree: (record: LedgerRecord) => boolean = () => true,
  ): boolean {
    this.#refreshAll();
    if (select(this.#allRecords()).length === 0) return false;
    const isWritten = this.#sessions.runLocked(() => {
      this.#refreshAll();
      const records = select(this.#allRecords()).filter(isFree);
      return records.length > 0 && this.#write(records.map((it) => ({ ...it, ...change })));
    });
    return isWritten ?? false;
  }

  /** Whether a call of another live session drives the record. The caller has to hold the common lock. */
  #isDrivenElsewhere(record: LedgerRecord): boolean {
    const isDriven = isPending(record) && !record.ended && record.owner !== this.#sessionId;
    return isDriven && this.#sessions.testLiveness(record.owner) === "alive";
  }

  /** Takes this session's lock, if files can be locked, and makes its file. Returns false after a warning if that fails. */
  #open(): boolean {
    if (this.#isOpened && !this.#closed) return true;
    try {
      if (this.#closed) throw new Error("the run has ended");
      this.#disk.makeFolder(this.#folder);
      // The lock comes first. With only the file, other sessions could not find out whether this session is alive.
      this.#lock ??= this.#sessions.lockOwn();
      this.#disk.create(this.#ownFile.path);
    } catch (error) {
      this.#warnOfWrite(error);
      return false;
    }
    this.#isOpened = true;
    this.#prune();
    return true;
  }

  /** Writes records of any session. If that fails, changes those that this session owns in memory, and returns false. */
  #write(records: readonly LedgerRecord[]): boolean {
    let isWritten = true;
    for (const [sessionId, changed] of Map.groupBy(records, (it) => it.session)) {
      if (this.#append(sessionId, changed)) continue;
      isWritten = false;
      const own = changed.filter(({ owner }) => owner === this.#sessionId);
      for (const record of own) this.#files.get(sessionId)?.apply(record);
    }
    return isWritten;
  }

  #append(sessionId: string, records: readonly LedgerRecord[]): boolean {
    if (this.#closed) return false;
    try {
      this.#files.get(sessionId)?.append(records);
      return true;
    } catch (error) {
      this.#warnOfWrite(error);
      return false;
    }
  }

  /** Resolves once the written records survive a power cut. Callers that wait at the same time share one sync. */
  #sync(): Promise<void> {
    this.#nextSync ??= this.#lastSync
      .catch(() => undefined)
      .then(() => {
        this.#nextSync = undefined;
        this.#lastSync = this.#syncNow();
        return this.#lastSync;
      });
    return this.#nextSync;
  }

  async #syncNow(): Promise<void> {
    await this.#disk.sync(this.#ownFile.path);
    if (!this.#isFolderSynced) await this.#disk.syncFolder(this.#folder);
    this.#isFolderSynced = true;
  }

  /** The key begins with the id of the session whose file has the record. */
  #findRecord(key: string): LedgerRecord | undefined {
    return this.#files.get(key.slice(0, key.lastIndexOf("-")))?.records.get(key);
  }

  #allRecords(): LedgerRecord[] {
    return [...this.#files.values()].flatMap(({ records }) => [...records.values()]);
  }

  /** Finds the files of new sessions, and reads what was appended to each file. Warns of what can't be read. */
  #refreshAll(): void {
    try {
      for (const name of this.#disk.list(this.#folder)) {
        const [, sessionId] = /^(\w+)\.jsonl$/.exec(name) ?? [];
        if (sessionId === undefined || this.#files.has(sessionId)) continue;
        this.#files.set(sessionId, new SessionFile(sessionId, this.#folder, this.#disk));
      }
    } catch (error) {
      if (!isMissing(error)) {
        this.#warnOnce(
          "read",
          `the ledger of pending creates can't be read (${messageOf(error)}). If an earlier run was killed while it created an instance, this run does not find that out`,
        );
      }
    }
    for (const file of this.#files.values()) this.#refresh(file);
  }

  /** Reads what was appended to a file. Forgets a removed file, unless this session owns one of its records. */
  #refresh(file: SessionFile): void {
    if (file === this.#ownFile && !this.#isOpened) return;
    try {
      if (file.refresh()) return;
      const isNeeded = [...file.records.values()].some(({ owner }) => owner === this.#sessionId);
      if (!isNeeded && file !== this.#ownFile) this.#files.delete(file.sessionId);
    } catch (error) {
      if (!isMissing(error)) this.#warnOfFile(file);
    }
  }

  /** Removes the old files of dead sessions without pending records. */
  #prune(): void {
    const now = this.#clock.date();
    const isDone = (it: LedgerRecord) =>
      ["settled", "refused"].includes(settleExpired(it, now).stage);
    try {
      this.#sessions.runLocked((isLocked) => {
        if (!isLocked) return;
        this.#refreshAll();
        for (const {
          sessionId,
          path,
          records,
          isDamaged,
          endsWithinLine,
        } of this.#files.values()) {
          const { mtimeMs = now.getTime() } = this.#disk.stat(path) ?? {};
          // An unreadable line may be about an instance that no state holds.
          const keptMs = isDamaged || endsWithinLine ? deliveredMs : settledFileKeptMs;
          const isOld = now.getTime() - mtimeMs > keptMs;
          if (!isOld || ![...records.values()].every(isDone)) continue;
          if (this.#sessions.testLiveness(sessionId) !== "dead") continue;
          this.#disk.remove(path);
          this.#sessions.removeLock(sessionId);
        }
      });
    } catch {
      // A later session tries again.
    }
  }

  #warnOfWrite(error: unknown): void {
    this.#warnOnce(
      "write",
      `the ledger of pending creates can't be written (${messageOf(error)}). If this run is killed while it creates an instance, the next run will not find that out. Make ${this.#folder} writable, or use another Pulumi home (PULUMI_HOME), which also holds the login and the plugins.`,
    );
  }

  #warnOfFile({ path }: SessionFile): void {
    this.#warnOnce(
      path,
      `a record of the ledger of pending creates can't be read and is ignored: ${path}. If an earlier run was killed, look in the service's list for an instance that is in no stack`,
    );
  }

  /** Warns once for each subject, since the same problem would appear with every resource. */
  #warnOnce(subject: string, message: string): void {
    if (this.#warnedSubjects.has(subject)) return;
    this.#warnedSubjects.add(subject);
    this.#warn(message);
  }
}

function messageOf(error: unknown): string {
  return (error as Partial<Error>).message ?? String(error);
}
