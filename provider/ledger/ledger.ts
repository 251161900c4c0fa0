/**
 * The ledger of pending creates in the Pulumi home. A run that is killed between a POST and the response leaves its
 * record to the next run, so that no created instance is lost (G1). A disk error causes a warning. It fails an
 * operation only if a pending create can't be taken over.
 */
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isSameName } from "../evidence/witness";
import { Once } from "../once";
import { isSamePlace, type Place } from "../origin";
import { isSameResource, stackOf } from "../pulumiNames";
import { isMissing, systemDisk, type Disk, type Lock } from "./disk";
import {
  daysKept,
  isAllowedChange,
  isInFlight,
  isPending,
  type LedgerEntry,
  type LedgerRecord,
  type Liveness,
  type NewRecord,
  type SettleReason,
} from "./record";
import { SessionFile } from "./sessionFile";

/** The fields of a record that may change. */
type Change = Partial<Omit<LedgerRecord, "key" | "session">>;

/** What a session knows of its run. */
export interface KnownRun {
  /** The address of the engine. The sessions of several providers in one program have the same. */
  engine?: string | undefined;
  /** As in `LedgerRecord`. */
  scope?: string | undefined;
  /** The URN of some resource of the stack. */
  urn?: string | undefined;
  /** The ids of the instances that the run's state is proven to hold. */
  proven?: ReadonlySet<string>;
}

/** A resource whose instance a state holds. The fields are as in `LedgerRecord`. */
export interface Holder {
  urn: string;
  scope: string;
  provider: string | undefined;
}

/** An instance that an import gives to the engine. */
export interface ImportedInstance {
  place: Place;
  /** As in `LedgerRecord`. */
  scope: string | undefined;
  urn: string;
  id: string;
  /** The name as records may have it: in plain text or hashed. */
  names: readonly string[];
  /** Whether no other instance can be the one that the POST of this record, which has the name, has made. */
  isOnlyOneOf: (record: LedgerRecord) => boolean;
}

const dayMs = 24 * 60 * 60 * 1000;
/** How long a dead session's file is kept that is damaged: an unreadable line may be about an instance that no state holds. */
const damagedFileKeptDays = 30;
/** How long a lock without a file is kept: longer than any session takes from its lock to its file. */
const orphanedLockKeptMs = 7 * dayMs;
/** The name of the common lock, which is no session's. */
const common = "common";
/** The longest wait for the common lock. Other processes hold it for milliseconds, unless they are stopped. */
const maxLockWaitMs = 2000;

/** The records of one state backend on this machine, as one session reads and writes them. */
export class Ledger {
  readonly #folder: string;
  readonly #sessionId: string;
  readonly #warn: (message: string) => void;
  readonly #clock: { date(): Date };
  readonly #disk: Disk;
  readonly #run: () => KnownRun;
  /** When the session began, in milliseconds since the epoch. */
  readonly #begunAt: number;
  /** This session's file, which is made when it is first needed. */
  readonly #ownFile: SessionFile;
  #isOpened = false;
  /** The files by session id. */
  readonly #files = new Map<string, SessionFile>();
  readonly #said = new Once();
  /** How long the next attempt to take the common lock may wait. */
  #lockWaitMs = maxLockWaitMs;
  /** How many records this session has begun. */
  #recordCount = 0;
  /** The last sync that was asked for. */
  #lastSync = Promise.resolve();
  /** The sync that is queued but has not begun. Callers share it. */
  #nextSync: Promise<void> | undefined;
  #isFolderSynced = false;
  /** The keys of the records of other runs of the stack that were under way together with this one. */
  readonly #overlapping = new Set<string>();
  /** The keys of the records that it has seen in a state when their run was over. Their `deliveredAt` is the time of that. */
  readonly #seenAfterEnd = new Set<string>();
  /** Set when the session has ended. Resolves when the lock is released. */
  #closed: Promise<void> | undefined;

  /**
   * @param sessionId letters and digits, different for each session
   * @param run returns what is known so far of the run. The run of a command, which creates nothing, is unknown.
   */
  constructor(
    folder: string,
    sessionId: string,
    warn: (message: string) => void,
    clock: { date(): Date },
    disk: Disk = systemDisk,
    run: () => KnownRun = () => ({}),
  ) {
    this.#folder = folder;
    this.#sessionId = sessionId;
    this.#warn = warn;
    this.#clock = clock;
    this.#disk = disk;
    this.#run = run;
    this.#begunAt = clock.date().getTime();
    this.#ownFile = this.#fileOf(sessionId);
  }

  /** Records that a POST is about to be sent. Resolves to the record's key once the record is synced, or after a warning. */
  async begin(fields: NewRecord): Promise<string> {
    const sessionId = this.#sessionId;
    const key = `${sessionId}-${++this.#recordCount}`;
    if (this.#closed) this.#warnOfWrite(new Error("the run has ended"));
    const own = { session: sessionId, owner: sessionId, engine: this.#run().engine };
    this.#write([{ ...fields, ...own, key, stage: "sending" }]);
    await this.#sync();
    return key;
  }

  /** Changes a record that this session owns, at once and without a sync. */
  move(key: string, change: Change): void {
    // The key begins with the id of the session whose file has the record.
    const record = this.#files.get(key.slice(0, key.lastIndexOf("-")))?.records.get(key);
    if (record?.owner === this.#sessionId) this.#write([record], change);
  }

  /**
   * Returns all records of this backend, including those of other sessions. First marks as contested what other runs of
   * the stack have begun that were under way together with this one.
   */
  read(): LedgerEntry[] {
    const entries = this.#readEntries();
    for (const [sessionId, file] of this.#files) {
      // A live session may be writing its last line.
      const isCutOff = file.endsWithinLine && this.#testLiveness(sessionId) !== "alive";
      if (isCutOff || file.isDamaged) this.#warnOfFile(file);
    }
    return entries;
  }

  /**
   * Makes this session the owner of a pending record from `read`, which is not contested any more. Returns false if a live
   * call drives it, if more than the mark as contested has changed, if the common lock stays held, or (another session's
   * record) if a lock or a write fails. If several sessions try, at most one succeeds.
   */
  take(record: LedgerRecord): boolean {
    const isOwn = record.owner === this.#sessionId;
    // Other sessions have to see that the new owner is alive.
    if (!isOwn && (this.#closed || !this.#open() || !this.#ownFile.lock)) return false;
    return this.#runLocked(false, (isLocked) => {
      if (!this.#refresh().some((latest) => isUnchanged(latest, record)) || !isPending(record))
        return false;
      if (!isOwn && !isLocked) return false;
      if (!record.ended && this.#testLiveness(record.owner) !== "dead") return false;
      return this.#write([record], {
        owner: this.#sessionId,
        engine: this.#run().engine,
        ended: undefined,
        contested: undefined,
      });
    });
  }

  /**
   * Marks a pending or delivered record of any session as contested, also one that a live session drives: another run of
   * its stack, such as this one, is under way together with the run of its owner. The mark ends when another session takes
   * the record over.
   */
  contest(key: string): void {
    this.#contest(this.#refresh().filter((record) => record.key === key && !record.contested));
  }

  /** Settles the record of any session. Returns whether that was done: see `#changeAll`. */
  settle(key: string, reason: SettleReason): boolean {
    const select = (records: LedgerRecord[]) => records.filter((record) => record.key === key);
    return this.#changeAll(select, (record) => ({ ...record, stage: "settled", settled: reason }));
  }

  /**
   * Settles the records of any session with this place (service and token kind) and instance id. A state does not settle
   * those that another run, which still was under way when this session began, has marked as contested: that run's engine
   * may since have saved an older state over the one that was seen.
   *
   * @param holder the resource for which a state holds the instance. The record is that resource's from then on
   */
  settleId(place: Place, id: string, reason: SettleReason, holder?: Holder): void {
    const ofInstance = (records: LedgerRecord[]) =>
      records.filter((record) => record.id === id && isSamePlace(record, place));
    const isOf = (record: LedgerRecord) =>
      record.settled === "state" &&
      (!holder || (record.urn === holder.urn && record.scope === holder.scope));
    const select = (records: LedgerRecord[]) =>
      reason === "state"
        ? ofInstance(records).filter(
            (record) => !isOf(record) && !this.#isContestedSinceBegin(record),
          )
        : ofInstance(records);
    const change = { stage: "settled", settled: reason, ...holder } as const;
    // Its own run may still be under way. Runs that began before now may save an older state over the one that was seen.
    const delivery = reason === "state" ? { deliveredAt: this.#now() } : {};
    this.#changeAll(select, (record) => {
      const isNew = reason === "state" && record.deliveredAt === undefined;
      if (isNew && this.#testLiveness(record.owner) === "dead") this.#seenAfterEnd.add(record.key);
      return { ...delivery, ...record, ...change };
    });
  }

  /**
   * Records that an import, perhaps only a previewed one, gives the engine this instance. Its pending record is found by id
   * or, if no record has the id and no other instance can be the record's, by name: that of the resource or, since an alias
   * may have renamed the resource, another one of the same scope. The record becomes `replied`: no run resumes the create any
   * more, and the next create of the resource stops and names the instance.
   */
  markImported({ place, scope, urn, id, names, isOnlyOneOf }: ImportedInstance): void {
    const hasMadeIt = (record: LedgerRecord) =>
      isPending(record) &&
      record.id === undefined &&
      names.some((name) => isSameName(name, record.name)) &&
      isOnlyOneOf(record);
    const select = (records: LedgerRecord[]): LedgerRecord[] => {
      const ofPlace = records.filter((record) => isSamePlace(record, place));
      const withId = ofPlace.filter((record) => record.id === id);
      if (withId.length > 0)
        return withId.filter((record) => isPending(record) && record.stage !== "replied");
      const named = ofPlace.filter(hasMadeIt);
      const ofResource = named.filter((record) => isSameResource(record.urn, urn));
      const ofScope = named.filter((record) => scope !== undefined && record.scope === scope);
      // Only one of several creates with the same name made the instance, so only one record changes.
      return [...ofResource, ...ofScope].slice(0, 1);
    };
    this.#changeAll(select, (record) => ({ ...record, id, stage: "replied", ended: true }));
  }

  /**
   * Moves this session's `replied` records to `delivered`, when the session ends normally. Its engine has every reply. They
   * are contested if another run of the stack was under way together with this one: this one has met it, or it still lives.
   */
  markDelivered(): void {
    this.endRun();
    const records = this.#refresh();
    const replied = records.filter(
      (record) => record.owner === this.#sessionId && record.stage === "replied",
    );
    if (replied.length === 0) return;
    const isOfOtherRun = this.#otherRunOfStack();
    // The process of a run that has ended in order may live a moment longer.
    const isUnderWay = (record: LedgerRecord) =>
      record.deliveredAt === undefined && this.#testLiveness(record.owner) === "alive";
    const isContested =
      this.#overlapping.size > 0 ||
      records.some((record) => isOfOtherRun(record) && isUnderWay(record));
    this.#write(replied, {
      stage: "delivered",
      deliveredAt: this.#now(),
      ...(isContested ? { contested: true } : {}),
    });
  }

  /**
   * Does what is due at any end of the run: marks as contested what its engine may have saved its state over, also what is
   * marked already, since the time counts (`settleId`); and tries once more to write what could not be written.
   */
  endRun(): void {
    const records = this.#readEntries().map(({ record }) => record);
    // A record that this session has taken over since is not another run's any more.
    const isOthers = ({ key, owner }: LedgerRecord) =>
      this.#overlapping.has(key) && owner !== this.#sessionId;
    this.#contest(records.filter(isOthers));
    this.#writeMissing();
  }

  /**
   * Ends the session. Tries once more to write what could not be written, then writes nothing any more, and releases the
   * session's lock after the last sync. Never rejects.
   */
  close(): Promise<void> {
    this.#writeMissing();
    this.#closed ??= this.#lastSync.then(() => this.#ownFile.lock?.[Symbol.dispose]());
    return this.#closed;
  }

  /**
   * Changes the selected records, except those that are settled for good or that a call of another live session drives.
   * Holds the common lock, so that no other session takes a record over or removes a file meanwhile (without locks, none
   * does either). Returns whether records were changed.
   */
  #changeAll(
    select: (records: LedgerRecord[]) => LedgerRecord[],
    changed: (record: LedgerRecord) => LedgerRecord,
  ): boolean {
    const selectAll = () =>
      select(this.#refresh()).filter((record) => isAllowedChange(record, changed(record)));
    const isDrivenElsewhere = (record: LedgerRecord) =>
      record.owner !== this.#sessionId &&
      isInFlight({ record, liveness: this.#testLiveness(record.owner) });
    if (selectAll().length === 0) return false;
    return this.#runLocked(false, () => {
      const records = selectAll().filter((record) => !isDrivenElsewhere(record));
      return records.length > 0 && this.#write(records.map(changed));
    });
  }

  /** Takes this session's lock, if files can be locked, and makes its file. Returns false after a warning if that fails. */
  #open(): boolean {
    if (this.#isOpened) return true;
    const isOpened = this.#tryToWrite(() => {
      this.#disk.makeFolder(this.#folder);
      this.#ownFile.make();
      this.#isOpened = true;
    });
    if (isOpened) this.#prune();
    return isOpened;
  }

  /**
   * Changes records of any session in their files. If that fails, changes those that this session owns in memory until the
   * next write, and returns whether it owns all.
   */
  #write(records: readonly LedgerRecord[], change: Change = {}): boolean {
    const changed = (record: LedgerRecord) => ({ ...record, ...change });
    const groups = [...Map.groupBy(records, (record) => this.#fileOf(record.session))];
    const failed = groups.filter(([file, group]) => !this.#append(file, group.map(changed)));
    for (const [file, group] of failed) {
      for (const record of group) if (record.owner === this.#sessionId) file.keep(changed(record));
    }
    if (failed.length === 0) this.#writeMissing();
    return failed.every(([, group]) => group.every(({ owner }) => owner === this.#sessionId));
  }

  /** Tries again to write the changes that could not be written. */
  #writeMissing(): void {
    for (const file of this.#files.values()) if (file.hasUnwritten) this.#append(file);
  }

  /** Returns false, after a warning unless the session has ended, if the records can't be written. */
  #append(file: SessionFile, records?: readonly LedgerRecord[]): boolean {
    if (this.#closed) return false;
    if (file === this.#ownFile && !this.#open()) return false;
    return this.#tryToWrite(() => file.append(records));
  }

  /** Resolves once the written records survive a power cut, or after a warning. */
  #sync(): Promise<void> {
    this.#nextSync ??= this.#lastSync = this.#lastSync
      .then(async () => {
        this.#nextSync = undefined;
        await this.#disk.sync(this.#ownFile.path);
        if (!this.#isFolderSynced) await this.#disk.syncFolder(this.#folder);
        this.#isFolderSynced = true;
      })
      .catch((error: unknown) => this.#warnOfWrite(error));
    return this.#nextSync;
  }

  /** Returns the file of a session, which need not exist. */
  #fileOf(sessionId: string): SessionFile {
    const file = this.#files.get(sessionId) ?? new SessionFile(sessionId, this.#folder, this.#disk);
    this.#files.set(sessionId, file);
    return file;
  }

  /** Finds the files of new sessions, and reads what was appended to each file. Returns all records. */
  #refresh(): LedgerRecord[] {
    try {
      for (const name of this.#disk.list(this.#folder)) {
        const [, sessionId] = /^(\w+)\.jsonl$/.exec(name) ?? [];
        if (sessionId !== undefined) this.#fileOf(sessionId);
      }
    } catch (error) {
      if (!isMissing(error)) {
        this.#warnOnce(
          "read",
          `the ledger of pending creates can't be read (${(error as Error).message}). If an earlier run was killed while it created an instance, this run does not find that out`,
        );
      }
    }
    for (const [sessionId, file] of this.#files) {
      if (file === this.#ownFile && !this.#isOpened) continue;
      try {
        file.refresh();
        // A removed file is forgotten, unless this session owns one of its records.
        const isOwned = ({ owner }: LedgerRecord) => owner === this.#sessionId;
        if (!file.stat && ![...file.records.values()].some(isOwned)) this.#files.delete(sessionId);
      } catch (error) {
        if (!isMissing(error)) this.#warnOfFile(file);
      }
    }
    return this.#records();
  }

  /** Returns all records as last read, with the changes that could not be written. */
  #records(): LedgerRecord[] {
    return [...this.#files.values()].flatMap(({ records }) => [...records.values()]);
  }

  /** Removes the files of dead sessions whose records are no longer needed. */
  #prune(): void {
    const now = this.#clock.date().getTime();
    // What can't be removed now is left to the next session.
    using lock = this.#lockCommon(0);
    if (lock.state !== "taken") return;
    this.#refresh();
    for (const [sessionId, file] of this.#files) {
      const days = (now - (file.stat?.mtimeMs ?? now)) / dayMs;
      const isUnreadable = file.isDamaged || file.endsWithinLine;
      const kept = [...file.records.values()].map(daysKept);
      if (days <= Math.max(isUnreadable ? damagedFileKeptDays : 0, ...kept)) continue;
      if (this.#testLiveness(sessionId) === "dead") file.remove();
    }
    try {
      for (const name of this.#disk.list(this.#folder)) {
        const [, sessionId] = /^(\w+)\.lock$/.exec(name) ?? [];
        if (sessionId === undefined || sessionId === common || this.#files.has(sessionId)) continue;
        const file = new SessionFile(sessionId, this.#folder, this.#disk);
        file.removeOrphanedLock(now - orphanedLockKeptMs);
      }
    } catch {
      // Left for the next session, too.
    }
  }

  /**
   * Runs `work` while this session holds the common lock, or without the lock if files can't be locked; `isLocked` says
   * which. Returns `ifHeld`, without running `work`, if another session holds the lock for too long.
   */
  #runLocked<T>(ifHeld: T, work: (isLocked: boolean) => T): T {
    using lock = this.#lockCommon(this.#lockWaitMs);
    const isHeldElsewhere = lock.state === "held";
    // A wait blocks the process. So after a wait in vain, later attempts do not wait, until one finds the lock free.
    this.#lockWaitMs = isHeldElsewhere ? 0 : maxLockWaitMs;
    return isHeldElsewhere ? ifHeld : work(lock.state === "taken");
  }

  /** Tries to take the lock that a session holds while it changes or removes what another session has left. */
  #lockCommon(waitMs: number): Lock {
    return this.#disk.lock(join(this.#folder, `${common}.lock`), { make: true, waitMs });
  }

  /** Does what `read` does, but for the warnings. */
  #readEntries(): LedgerEntry[] {
    const records = this.#refresh();
    const owners = new Set(records.filter(isPending).map(({ owner }) => owner));
    const liveness = new Map([...owners].map((owner) => [owner, this.#testLiveness(owner)]));
    const entryOf = (record: LedgerRecord): LedgerEntry => ({
      record,
      liveness: liveness.get(record.owner) ?? "unknown",
    });
    const ofOthers = records.filter(({ owner }) => owner !== this.#sessionId);
    if (ofOthers.length === 0) return records.map(entryOf);
    this.#contestOverlapping(ofOthers.map(entryOf));
    return this.#records().map(entryOf);
  }

  /**
   * Marks the records of other runs of the stack that were under way together with this one: a live session drives them, or
   * they were delivered when this session began, or later. A state that held such an instance does not count, unless it is
   * the one of this run: this run's engine may save its older state over it.
   */
  #contestOverlapping(entries: readonly LedgerEntry[]): void {
    const isOfOtherRun = this.#otherRunOfStack();
    const isOverlapping = ({ record, liveness }: LedgerEntry) =>
      isOfOtherRun(record) &&
      ((isPending(record) && liveness === "alive") ||
        (Date.parse(record.deliveredAt ?? "") >= this.#begunAt &&
          !this.#seenAfterEnd.has(record.key)));
    const overlapping = entries.filter(isOverlapping).map(({ record }) => record);
    if (overlapping.length === 0) return;
    const keys = new Set(overlapping.map(({ key }) => key));
    for (const key of keys) this.#overlapping.add(key);
    this.#contest(overlapping.filter((record) => !record.contested));
    const { proven } = this.#run();
    const isUnproven = ({ key, settled, id = "" }: LedgerRecord) =>
      keys.has(key) && settled === "state" && !proven?.has(id);
    const select = (records: LedgerRecord[]) => records.filter(isUnproven);
    const change = { stage: "delivered", settled: undefined, contested: true } as const;
    this.#changeAll(select, (record) => ({ ...record, ...change }));
  }

  /** Marks those of the records that are pending or delivered. */
  #contest(records: readonly LedgerRecord[]): void {
    const toMark = records.filter((record) => isPending(record) || record.stage === "delivered");
    const mark = { by: this.#run().engine ?? this.#sessionId, at: this.#now() };
    for (const [sessionId, ofSession] of Map.groupBy(toMark, (record) => record.session)) {
      const file = this.#fileOf(sessionId);
      // Lines of their own neither overwrite nor lose what the owner writes meanwhile.
      if (!this.#closed && this.#tryToWrite(() => file.contest(ofSession, mark))) continue;
      const own = ofSession.filter(({ owner }) => owner === this.#sessionId);
      for (const record of own) file.keep({ ...record, contested: true });
    }
  }

  /** Whether another run, which is not that of the owner, has marked the record since this session began. */
  #isContestedSinceBegin(record: LedgerRecord): boolean {
    const { engine = this.#sessionId } = this.#run();
    const involved = [engine, record.engine ?? record.owner];
    return this.#fileOf(record.session)
      .contestsOf(record)
      .some(({ by, at }) => !involved.includes(by) && Date.parse(at) >= this.#begunAt);
  }

  /**
   * Returns whether the owner of a record serves another run of this session's stack, which need not be under way. A
   * program with several provider resources has a session for each of them, with one engine. Two stacks can have one provider
   * resource (`pulumi state move`), so its id, the scope, counts only as long as no resource has told the name of the stack.
   */
  #otherRunOfStack(): (record: LedgerRecord) => boolean {
    const { engine, scope, urn } = this.#run();
    const isOwn = (record: LedgerRecord) => record.owner === this.#sessionId;
    const own = this.#records().filter((record) => isOwn(record) && !record.stateless);
    const urns = [urn, ...own.map((record) => record.urn)].filter((some) => some !== undefined);
    const stacks = new Set(urns.map(stackOf));
    const isOfStack = (record: LedgerRecord) =>
      stacks.size > 0
        ? stacks.has(stackOf(record.urn))
        : scope !== undefined && record.scope === scope;
    return (record) =>
      !isOwn(record) &&
      !record.stateless &&
      (engine === undefined || record.engine !== engine) &&
      isOfStack(record);
  }

  #now(): string {
    return this.#clock.date().toISOString();
  }

  /** Returns whether a session is alive. */
  #testLiveness(sessionId: string): Liveness {
    return sessionId === this.#sessionId ? "alive" : this.#fileOf(sessionId).testLiveness();
  }

  /** Returns false after a warning if `work` fails. */
  #tryToWrite(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      this.#warnOfWrite(error);
      return false;
    }
  }

  #warnOfWrite(error: unknown): void {
    this.#warnOnce(
      "write",
      `the ledger of pending creates can't be written (${(error as Error).message}). If this run is killed while it creates an instance, the next run will not find that out. Make ${this.#folder} writable, or use another Pulumi home (PULUMI_HOME), which also holds the login and the plugins.`,
    );
  }

  #warnOfFile({ path }: SessionFile): void {
    this.#warnOnce(
      path,
      `a record of the ledger of pending creates can't be read and is ignored: ${path}. If an earlier run was killed, look in the service's listing for an instance that is in no stack`,
    );
  }

  #warnOnce(subject: string, message: string): void {
    if (this.#said.isFirst(subject)) this.#warn(message);
  }
}

/** Whether two versions of a record differ at most in the mark as contested. */
function isUnchanged(one: LedgerRecord, other: LedgerRecord): boolean {
  const unmarked = (record: LedgerRecord) => ({ ...record, contested: undefined });
  return one.key === other.key && isDeepStrictEqual(unmarked(one), unmarked(other));
}
