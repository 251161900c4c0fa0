/**
 * The ledger: a record of each create in the Pulumi home, kept while the state may not hold the create's result
 * (G1). A run that is killed between a POST and its answer leaves its record to the next run. Each session
 * appends to a file of its own, and holds a lock while it runs. A fault of the disk never fails an operation:
 * it is warned of.
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
import { Sessions, type Liveness } from "./sessions";

/** A record, and what is known of the session that owns it. */
export interface LedgerEntry {
  record: LedgerRecord;
  /** The create is pending, its owner is alive, and its call has not ended. */
  inFlight: boolean;
  /** The owner is alive: its engine may yet save what it was given. */
  live: boolean;
  /** The create is pending, and files can't be locked here to tell whether its owner is alive. */
  unlockable: boolean;
  /** This session owns it. */
  own: boolean;
}

type Change = Partial<Pick<LedgerRecord, "stage" | "id" | "accepted" | "at" | "ended" | "settled">>;

/** How long a dead session's file is kept after its last write, once all its records are settled. */
const keptMs = 7 * 24 * 60 * 60 * 1000;

/** The records of one state backend on this machine, as one session reads and writes them. */
export class Ledger {
  readonly #folder: string;
  readonly #session: string;
  readonly #warn: (text: string) => void;
  readonly #clock: { date(): Date };
  readonly #disk: Disk;
  readonly #sessions: Sessions;
  /** This session's file. Made on the disk with the first record. */
  readonly #ownFile: SessionFile;
  /** By session. What could not be written is in them all the same, if this session owns the record. */
  readonly #files = new Map<string, SessionFile>();
  readonly #warnedOf = new Set<string>();
  /** What the last `read` gave, by key. */
  #lastRead = new Map<string, LedgerRecord>();
  #isOpened = false;
  #lock: Lock | undefined;
  #count = 0;
  #lastSync = Promise.resolve();
  #nextSync: Promise<void> | undefined;
  #isFolderSynced = false;
  #closed: Promise<void> | undefined;

  /** @param session the session's id: letters and digits, another one for each session */
  constructor(
    folder: string,
    session: string,
    warn: (text: string) => void,
    clock: { date(): Date },
    disk: Disk = systemDisk,
  ) {
    this.#folder = folder;
    this.#session = session;
    this.#warn = warn;
    this.#clock = clock;
    this.#disk = disk;
    this.#sessions = new Sessions(folder, session, disk);
    this.#ownFile = new SessionFile(session, this.#sessions.fileOf(session), disk);
    this.#files.set(session, this.#ownFile);
  }

  /**
   * Records that a POST is about to be sent. Resolves to the record's key once the record survives a power
   * cut; where it can't be written, after a warning.
   */
  async begin(fields: NewRecord): Promise<string> {
    const session = this.#session;
    const key = `${session}-${++this.#count}`;
    this.#open();
    if (this.#write([{ ...fields, key, session, owner: session, stage: "sending" }])) {
      await this.#sync().catch((error: unknown) => this.#warnOfWrite(error));
    }
    return key;
  }

  /** Changes a record that this session owns: written at once, in order, and not synced. */
  move(key: string, change: Change): void {
    const record = this.#find(key);
    if (record?.owner !== this.#session || record.stage === "settled") return;
    this.#write([{ ...record, ...change }]);
  }

  /** Settles a record of this session of which nothing was sent. */
  drop(key: string): void {
    this.move(key, { stage: "settled", settled: "absent" });
  }

  /** All records of this backend, those of other sessions too. Never throws. */
  read(): LedgerEntry[] {
    this.#refreshAll();
    const records = this.#all();
    this.#lastRead = new Map(records.map((record) => [record.key, record]));
    const others = records.filter((it) => isPending(it) && it.owner !== this.#session);
    const cutFiles = [...this.#files.values()].filter(
      (it) => it.endsWithinLine && it !== this.#ownFile,
    );
    const liveness = this.#sessions.livenessOf(
      new Set([...others.map(({ owner }) => owner), ...cutFiles.map(({ session }) => session)]),
    );
    this.#warnOfDamage(liveness);
    const now = this.#clock.date();
    return records.map((record) => {
      const own = record.owner === this.#session;
      const owner = own ? "alive" : liveness.get(record.owner);
      return {
        record: settleExpired(record, now),
        inFlight: isPending(record) && !record.ended && owner === "alive",
        live: owner === "alive",
        unlockable: isPending(record) && owner === "unknown",
        own,
      };
    });
  }

  /**
   * Makes this session the owner of a pending record whose owner is dead, or whose call has ended. False if a
   * call drives the record, if another session has changed it since the last `read`, or if files can't be
   * locked. If several sessions try, at most one succeeds.
   */
  take(key: string): boolean {
    const isOwn = this.#find(key)?.owner === this.#session;
    // Other sessions have to see that the new owner is alive.
    if (!isOwn && !(this.#open() && this.#lock)) return false;
    const isTaken = this.#sessions.runLocked((isLocked) => {
      this.#refreshAll();
      const record = this.#find(key);
      if (!record || !isPending(record)) return false;
      const { ended, ...rest } = record;
      const taken = { ...rest, owner: this.#session };
      if (isOwn) {
        if (record.owner !== this.#session || !ended) return false;
        this.#write([taken]);
        return true;
      }
      if (!isLocked || record !== this.#lastRead.get(key)) return false;
      const isFree = ended ?? this.#sessions.testLiveness(record.owner) === "dead";
      return isFree && this.#append(taken.session, [taken]);
    });
    return isTaken ?? false;
  }

  /** Settles a record of any session, unless a call of another session drives it. Gives whether it is written. */
  settle(key: string, reason: SettleReason): boolean {
    const change = { stage: "settled", settled: reason } as const;
    const select = () => this.#all().filter((it) => it.key === key && isAllowedChange(it, change));
    return this.#changeAll(select, change, (it) => !this.#isDrivenElsewhere(it));
  }

  /** Settles the records of any session that have this place and id. */
  settleId(place: Place, id: string, reason: SettleReason): void {
    const change = { stage: "settled", settled: reason } as const;
    const isMeant = (it: LedgerRecord) =>
      it.id === id &&
      it.settled !== reason &&
      isAllowedChange(it, change) &&
      isSamePlace(it, place);
    this.#changeAll(() => this.#all().filter(isMeant), change);
  }

  /**
   * An import gave the engine this instance, and may have been a preview. A pending record of the instance (by
   * its id or, if no record has that, one by resource and name) becomes `replied`: no run resumes it any more,
   * and the next create of its resource stops and names the instance.
   */
  markImported(place: Place, urn: string, id: string, names: readonly string[]): void {
    const select = (): LedgerRecord[] => {
      const here = this.#all().filter((it) => isSamePlace(it, place));
      const withId = here.filter((it) => it.id === id);
      if (withId.length > 0) return withId.filter((it) => isPending(it) && it.stage !== "replied");
      const mayHaveMadeIt = (it: LedgerRecord) =>
        isSameResource(it.urn, urn) && names.includes(it.name) && !it.before.includes(id);
      // Of several creates of one name, one made it; the others stay as they are.
      return here
        .filter((it) => it.id === undefined && isPending(it) && mayHaveMadeIt(it))
        .slice(0, 1);
    };
    const change = { id, stage: "replied", ended: true } as const;
    this.#changeAll(select, change, (it) => !this.#isDrivenElsewhere(it));
  }

  /** The session ends in order, and the engine has every reply: `replied` becomes `delivered`. */
  markDelivered(): void {
    this.#refreshAll();
    const replied = this.#all().filter(
      ({ owner, stage }) => owner === this.#session && stage === "replied",
    );
    this.#write(replied.map((record) => ({ ...record, stage: "delivered" })));
  }

  /** Ends the session: its lock is free, and nothing is written any more. Never rejects. */
  close(): Promise<void> {
    this.#closed ??= (this.#nextSync ?? this.#lastSync)
      .catch(() => undefined)
      .then(() => this.#lock?.release());
    return this.#closed;
  }

  /**
   * Changes the selected records of any session, under the common lock if there is one. Where nothing can be
   * locked, no file is ever removed, so none can come back by this. False if nothing was written.
   */
  #changeAll(
    select: () => LedgerRecord[],
    change: Change,
    isFree: (record: LedgerRecord) => boolean = () => true,
  ): boolean {
    this.#refreshAll();
    if (select().length === 0) return false;
    const isWritten = this.#sessions.runLocked(() => {
      this.#refreshAll();
      const records = select().filter(isFree);
      return records.length > 0 && this.#write(records.map((it) => ({ ...it, ...change })));
    });
    return isWritten ?? false;
  }

  /** Whether a call of another live session drives the record. Only under the common lock. */
  #isDrivenElsewhere(record: LedgerRecord): boolean {
    const isDriven = isPending(record) && !record.ended && record.owner !== this.#session;
    return isDriven && this.#sessions.testLiveness(record.owner) === "alive";
  }

  /** Makes this session's lock and file, once. False where that fails, after a warning. */
  #open(): boolean {
    if (this.#isOpened && !this.#closed) return true;
    try {
      if (this.#closed) throw new Error("the run has ended");
      this.#disk.makeFolder(this.#folder);
      // The lock first: with the file alone, others could not tell whether this session is alive.
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

  /** Writes records of any session. False where that fails, after a warning; this session's own count all the same. */
  #write(records: readonly LedgerRecord[]): boolean {
    let isWritten = true;
    for (const [session, changed] of Map.groupBy(records, (it) => it.session)) {
      if (this.#append(session, changed)) continue;
      isWritten = false;
      const own = changed.filter(({ owner }) => owner === this.#session);
      for (const record of own) this.#files.get(session)?.apply(record);
    }
    return isWritten;
  }

  #append(session: string, records: readonly LedgerRecord[]): boolean {
    if (this.#closed) return false;
    try {
      this.#files.get(session)?.append(records);
      return true;
    } catch (error) {
      this.#warnOfWrite(error);
      return false;
    }
  }

  /** Resolves once what is written survives a power cut. Those who wait at the same time share one sync. */
  #sync(): Promise<void> {
    const previous = this.#lastSync.catch(() => undefined);
    this.#nextSync ??= previous.then(() => {
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

  #find(key: string): LedgerRecord | undefined {
    return this.#files.get(key.slice(0, key.lastIndexOf("-")))?.records.get(key);
  }

  #all(): LedgerRecord[] {
    return [...this.#files.values()].flatMap(({ records }) => [...records.values()]);
  }

  #refreshAll(): void {
    try {
      for (const session of this.#sessions.withFile()) {
        if (this.#files.has(session)) continue;
        const path = this.#sessions.fileOf(session);
        this.#files.set(session, new SessionFile(session, path, this.#disk));
      }
    } catch (error) {
      if (!isMissing(error)) {
        this.#warnOnce(
          "read",
          `the ledger of pending creates can't be read (${messageOf(error)}): if an earlier run was killed while it created an instance, this one does not know of it`,
        );
      }
    }
    for (const file of this.#files.values()) this.#refresh(file);
  }

  #refresh(file: SessionFile): void {
    if (file === this.#ownFile && !this.#isOpened) return;
    try {
      if (file.refresh()) return;
      const isNeeded = [...file.records.values()].some(({ owner }) => owner === this.#session);
      if (!isNeeded && file !== this.#ownFile) this.#files.delete(file.session);
    } catch (error) {
      if (!isMissing(error)) this.#warnOfFile(file);
    }
  }

  /** Removes the files of dead sessions that tell a later run nothing. */
  #prune(): void {
    const now = this.#clock.date();
    const isDone = (it: LedgerRecord) =>
      ["settled", "refused"].includes(settleExpired(it, now).stage);
    try {
      this.#sessions.runLocked((isLocked) => {
        if (!isLocked) return;
        this.#refreshAll();
        for (const file of this.#files.values()) {
          const { session, path, records } = file;
          const { mtimeMs = now.getTime() } = this.#disk.stat(path) ?? {};
          // A line that can't be read may be of an instance.
          const isDamaged = file.damagedLines > 0 || file.endsWithinLine;
          const isOld = now.getTime() - mtimeMs > (isDamaged ? deliveredMs : keptMs);
          if (!isOld || ![...records.values()].every(isDone)) continue;
          if (this.#sessions.testLiveness(session) !== "dead") continue;
          this.#disk.remove(path);
          this.#sessions.removeLock(session);
          this.#files.delete(session);
        }
      });
    } catch {
      // The next session tries again.
    }
  }

  #warnOfWrite(error: unknown): void {
    this.#warnOnce(
      "write",
      `the ledger of pending creates can't be written (${messageOf(error)}): should this run be killed while it creates an instance, the next one will not know of it. Make ${this.#folder} writable, or set PULUMI_HOME.`,
    );
  }

  /** A session that is alive may just be writing its last line. */
  #warnOfDamage(liveness: ReadonlyMap<string, Liveness>): void {
    for (const file of this.#files.values()) {
      const isLive = file === this.#ownFile || liveness.get(file.session) === "alive";
      const isCut = file.endsWithinLine && !isLive;
      if (isCut || file.damagedLines > 0) this.#warnOfFile(file);
    }
  }

  #warnOfFile({ path }: SessionFile): void {
    this.#warnOnce(
      path,
      `a record of the ledger of pending creates can't be read and was passed over: ${path}. If an earlier run was killed, look in the service's list for an instance that no stack has`,
    );
  }

  /** The same fault would turn up at every resource. */
  #warnOnce(subject: string, text: string): void {
    if (this.#warnedOf.has(subject)) return;
    this.#warnedOf.add(subject);
    this.#warn(text);
  }
}

function messageOf(error: unknown): string {
  return (error as Partial<Error>).message ?? String(error);
}
