/**
 * The ledger: a record of each create, in the Pulumi home, for as long as the state may not hold its result
 * (G1), so that a run killed between a POST and its answer leaves a trace. Each session appends to a file of
 * its own, and holds a lock for as long as it lives. Nothing here ever fails an operation: what can't be
 * written or read is warned of.
 */
import { isSamePlace, type Place } from "../origin";
import { sameResource } from "../urn";
import { isMissing, reason, systemDisk, type Disk, type Lock, type OpenFile } from "./disk";
import { isNoMoreNeeded, isSettled, isWorthless, removeOldLocks } from "./prune";
import {
  settleExpired,
  isPending,
  isAllowedChange,
  type LedgerRecord,
  type NewRecord,
  type SettleReason,
} from "./record";
import { SessionFile } from "./sessionFile";
import { type Life, Sessions } from "./sessions";
import { SharedSync } from "./sharedSync";

export interface LedgerEntry {
  record: LedgerRecord;
  /** It is open, its owner is alive, and the call that drives it has no end yet. */
  inFlight: boolean;
  /** Its owner is alive: its engine may yet save what it was given. */
  live: boolean;
  /** It is open, and whether its owner is alive can't be told: files can't be locked there. */
  unlockable: boolean;
  /** Its owner is this session. */
  own: boolean;
}

type Change = Partial<Pick<LedgerRecord, "stage" | "id" | "accepted" | "at" | "ended" | "settled">>;

/** What this session has on the disk. */
interface Own {
  file: SessionFile;
  handle: OpenFile;
  /** Undefined where files can't be locked. */
  lock: Lock | undefined;
  sync: SharedSync;
}

export class Ledger {
  readonly #sessions: Sessions;
  /** By session. */
  readonly #files = new Map<string, SessionFile>();
  /** Own records, by key, as they should stand in the file: the last write of each has failed. */
  readonly #unwritten = new Map<string, LedgerRecord>();
  /** What the last `read` gave: `take` is of that, not of what another session made of it since. */
  #given = new Map<string, LedgerRecord>();
  readonly #complaints = new Set<string>();
  #own: Own | undefined;
  #count = 0;
  #closed: Promise<void> | undefined;

  /** Nothing is made on the disk before the first record is. */
  constructor(
    private readonly folder: string,
    /** Its id: letters and digits, another one for each session. */
    private readonly session: string,
    private readonly warn: (text: string) => void,
    private readonly clock: { date(): Date },
    private readonly disk: Disk = systemDisk,
  ) {
    this.#sessions = new Sessions(folder, session, disk);
  }

  /**
   * Records that a POST is about to be sent; gives the record's key. Once it resolves, the record survives
   * a power cut; where that can't be, a warning says so, and it resolves all the same.
   */
  async begin(fields: NewRecord): Promise<string> {
    const { session } = this;
    const key = `${session}-${++this.#count}`;
    if (this.#closed) this.#complainOfWrite(new Error("the run has ended"));
    if (this.#write([{ ...fields, key, session, owner: session, stage: "sending" }])) {
      await this.#own?.sync.wait().catch((error: unknown) => this.#complainOfWrite(error));
    }
    return key;
  }

  /** Changes a record that this session owns: written at once, in order, and not synced. */
  move(key: string, change: Change): void {
    const record = this.#find(key);
    if (record?.owner !== this.session || record.stage === "settled") return;
    this.#write([{ ...record, ...change }]);
  }

  /** All records of this backend as they are now, those of other sessions too. Never throws. */
  read(): LedgerEntry[] {
    this.#refreshAll();
    const records = this.#all();
    this.#given = new Map(records.map((record) => [record.key, record]));
    const others = records.filter((it) => isPending(it) && it.owner !== this.session);
    const cut = [...this.#files.values()].filter(({ isCut }) => isCut);
    const lives = this.#sessions.lives(
      new Set([...others.map(({ owner }) => owner), ...cut.map(({ session }) => session)]),
    );
    this.#complainOfDamage(lives);
    const now = this.clock.date();
    return records.map((record) => {
      const own = record.owner === this.session;
      const life = own ? "alive" : lives.get(record.owner);
      return {
        record: settleExpired(now, record),
        inFlight: isPending(record) && !record.ended && life === "alive",
        live: life === "alive",
        unlockable: isPending(record) && life === "unknown",
        own,
      };
    });
  }

  /**
   * Makes this session the owner of an open record that no call drives any more: its owner is dead, or the
   * call has ended. False where it is in flight, where another session has changed it since the last
   * `read`, and where nothing can be locked. Of several sessions that try, at most one succeeds.
   */
  take(key: string): boolean {
    const { session } = this;
    const isOwn = this.#find(key)?.owner === session;
    // Who takes a record over has to be seen to be alive.
    if (!isOwn && !this.#open()?.lock) return false;
    const isFree = (record: LedgerRecord, isLocked: boolean) => {
      if (isOwn) return record.owner === session && record.ended;
      if (!isLocked || record !== this.#given.get(key)) return false;
      return record.ended ?? this.#sessions.look(record.owner) === "dead";
    };
    const taken = this.#sessions.locked((isLocked) => {
      this.#refreshAll();
      const record = this.#find(key);
      if (!record || !isPending(record) || !isFree(record, isLocked)) return false;
      const { ended: _, ...rest } = record;
      if (this.#write([{ ...rest, owner: session }]) || isOwn) return true;
      this.#unwritten.delete(key);
      return false;
    });
    return taken ?? false;
  }

  /**
   * Settles a record, whoever's it is, unless a call of another session drives it. Gives whether it was
   * written.
   */
  settle(key: string, how: SettleReason): boolean {
    // Also where nothing can be locked: then no file is ever removed, so none comes back by this.
    const isWritten = this.#sessions.locked(() => {
      this.#refreshAll();
      const record = this.#find(key);
      if (!record || !isAllowedChange(record, { stage: "settled", settled: how })) return false;
      if (this.#isDrivenElsewhere(record)) return false;
      return this.#write([{ ...record, stage: "settled", settled: how }]);
    });
    return isWritten ?? false;
  }

  /**
   * An import gave the engine this instance, and may have been a preview. An open record of it (by the id
   * or, where no record has that, one by resource and name) becomes `replied`: it is not resumed any more,
   * and the next create of its resource stops and names the instance.
   */
  markImported(place: Place, urn: string, id: string, names: readonly string[]): void {
    const meant = (): LedgerRecord[] => {
      const here = this.#all().filter((it) => isSamePlace(it, place));
      const known = here.filter((it) => it.id === id);
      if (known.length > 0) return known.filter((it) => isPending(it) && it.stage !== "replied");
      const isLike = (it: LedgerRecord) =>
        sameResource(it.urn, urn) && names.includes(it.name) && !it.before.includes(id);
      // Of several creates of one name, one made it; the others stay as they are.
      return here.filter((it) => it.id === undefined && isPending(it) && isLike(it)).slice(0, 1);
    };
    this.#refreshAll();
    if (meant().length === 0) return;
    this.#sessions.locked(() => {
      this.#refreshAll();
      const free = meant().filter((it) => !this.#isDrivenElsewhere(it));
      this.#write(free.map((it) => ({ ...it, id, stage: "replied", ended: true })));
    });
  }

  /** Whether a call of another session that lives drives it. Only under the lock of `sessions`. */
  #isDrivenElsewhere(record: LedgerRecord): boolean {
    const isOthers = record.owner !== this.session && isPending(record) && !record.ended;
    return isOthers && this.#sessions.look(record.owner) === "alive";
  }

  /** Settles every record of this place with this id that may be settled so, whoever's it is. */
  settleId(place: Place, id: string, how: SettleReason): void {
    const isMeant = (it: LedgerRecord) =>
      it.id === id &&
      it.settled !== how &&
      isAllowedChange(it, { stage: "settled", settled: how }) &&
      isSamePlace(it, place);
    this.#refreshAll();
    if (!this.#all().some(isMeant)) return;
    this.#sessions.locked(() => {
      this.#refreshAll();
      const meant = this.#all().filter(isMeant);
      this.#write(meant.map((it) => ({ ...it, stage: "settled", settled: how })));
    });
  }

  /** Settles a record of this session of which nothing was sent. */
  drop(key: string): void {
    this.move(key, { stage: "settled", settled: "absent" });
  }

  /** The orderly end of a session, when the engine has had every reply: `replied` becomes `delivered`. */
  markDelivered(): void {
    this.#refreshAll();
    const replied = this.#all().filter(
      ({ owner, stage }) => owner === this.session && stage === "replied",
    );
    this.#write(replied.map((record) => ({ ...record, stage: "delivered" })));
  }

  /** Ends the session: its lock is free, and nothing is written any more. Never rejects. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    const own = this.#own;
    if (!own) return;
    await own.sync.done();
    this.#refresh(own.file);
    this.#own = undefined;
    const end = (isLocked: boolean) => {
      closeQuietly(own.handle);
      const isKept = !isLocked || !isWorthless(own.file);
      if (!isKept) this.#removeFile(own.file);
      own.lock?.release();
      if (!isKept) this.#sessions.forget(this.session);
      return true;
    };
    // Another process may have the lock for too long.
    if (!this.#sessions.locked(end)) end(false);
  }

  /** Appends each record to the file of its session; false where that fails, which is warned of. */
  #write(records: readonly LedgerRecord[]): boolean {
    let isWritten = true;
    for (const [session, ofIt] of Map.groupBy(records, (it) => it.session)) {
      try {
        const file = session === this.session ? this.#openOwn().file : this.#files.get(session);
        if (!file || this.#closed) throw new Error(`the records of ${session} are gone`);
        file.append(ofIt);
        for (const { key } of ofIt) this.#unwritten.delete(key);
      } catch (error) {
        isWritten = false;
        for (const it of ofIt) if (it.owner === this.session) this.#unwritten.set(it.key, it);
        if (!this.#closed) this.#complainOfWrite(error);
      }
    }
    return isWritten;
  }

  /** As `openOwn`; undefined where that fails, which is warned of. */
  #open(): Own | undefined {
    try {
      return this.#openOwn();
    } catch (error) {
      if (!this.#closed) this.#complainOfWrite(error);
      return undefined;
    }
  }

  /** Makes this session's lock and file, once. @throws */
  #openOwn(): Own {
    if (this.#own) return this.#own;
    if (this.#closed) throw new Error("the run has ended");
    const { session } = this;
    this.disk.makeFolder(this.folder);
    // The lock first: with the file alone, others could not tell whether this session lives.
    const lock = this.#sessions.start();
    const path = this.#sessions.fileOf(session);
    try {
      const handle = this.disk.create(path);
      const file = new SessionFile(session, path, this.disk, handle);
      this.#own = { file, handle, lock, sync: this.#syncOf(handle) };
      this.#files.set(session, file);
    } catch (error) {
      lock?.release();
      this.#sessions.forget(session);
      throw error;
    }
    this.#prune();
    return this.#own;
  }

  #syncOf(handle: OpenFile): SharedSync {
    let isNew = true;
    return new SharedSync(async () => {
      await handle.sync();
      if (isNew) await this.disk.syncFolder(this.folder);
      isNew = false;
    });
  }

  #find(key: string): LedgerRecord | undefined {
    const written = this.#files.get(key.slice(0, key.lastIndexOf("-")))?.records.get(key);
    return written?.stage === "settled" ? written : (this.#unwritten.get(key) ?? written);
  }

  #all(): LedgerRecord[] {
    const keys = [...this.#files.values()].flatMap(({ records }) => [...records.keys()]);
    const all = keys.flatMap((key) => this.#find(key) ?? []);
    for (const [key, record] of this.#unwritten) {
      if (!this.#files.get(record.session)?.records.has(key)) all.push(record);
    }
    return all;
  }

  #refreshAll(): void {
    try {
      for (const session of this.#sessions.withFile()) {
        if (this.#files.has(session)) continue;
        const path = this.#sessions.fileOf(session);
        this.#files.set(session, new SessionFile(session, path, this.disk));
      }
    } catch (error) {
      if (!isMissing(error)) {
        this.#complain(
          "read",
          `the ledger of pending creates can't be read (${reason(error)}): if an earlier run was killed while it created an instance, this one does not know of it`,
        );
      }
    }
    for (const file of this.#files.values()) this.#refresh(file);
  }

  #refresh(file: SessionFile): void {
    // A dead session's file in which all is settled does not change any more.
    const isFinal = this.#sessions.isDead(file.session) && !file.isCut;
    if (isFinal && isSettled(file, this.clock.date())) return;
    try {
      if (!file.refresh() && file !== this.#own?.file) this.#files.delete(file.session);
    } catch (error) {
      if (!isMissing(error)) this.#complainOfFile(file);
    }
  }

  /** Removes the files of dead sessions that are not needed any more. */
  #prune(): void {
    const now = this.clock.date();
    const prune = (isLocked: boolean) => {
      if (!isLocked) return;
      this.#refreshAll();
      for (const file of [...this.#files.values()]) {
        if (!isSettled(file, now) || this.#sessions.look(file.session) !== "dead") continue;
        if (!isNoMoreNeeded(this.disk, file, now)) continue;
        this.#removeFile(file);
        this.#sessions.forget(file.session);
      }
      removeOldLocks(this.disk, this.#sessions, now);
    };
    try {
      this.#sessions.locked(prune);
    } catch {
      // The next session tries again.
    }
  }

  #removeFile({ session, path }: SessionFile): void {
    this.disk.remove(path);
    this.#files.delete(session);
  }

  #complainOfWrite(error: unknown): void {
    this.#complain(
      "write",
      `the ledger of pending creates can't be written (${reason(error)}): should this run be killed while it creates an instance, the next one will not know of it. Make ${this.folder} writable, or set PULUMI_HOME.`,
    );
  }

  /** A session that is alive may just be writing its last line. */
  #complainOfDamage(lives: ReadonlyMap<string, Life>): void {
    for (const file of this.#files.values()) {
      const isCut = file.isCut && file !== this.#own?.file && lives.get(file.session) !== "alive";
      if (isCut || file.damaged > 0) this.#complainOfFile(file);
    }
  }

  #complainOfFile({ path }: SessionFile): void {
    if (this.disk.saidDamaged.has(path)) return;
    this.disk.saidDamaged.add(path);
    this.warn(
      `a record of the ledger of pending creates can't be read and was passed over: ${path}. If an earlier run was killed, look in the service's list for an instance that no stack has`,
    );
  }

  /** Of each matter once: the same fault would turn up at every resource. */
  #complain(matter: string, text: string): void {
    if (this.#complaints.has(matter)) return;
    this.#complaints.add(matter);
    this.warn(text);
  }
}

function closeQuietly(handle: OpenFile): void {
  try {
    handle.close();
  } catch {
    // What was written is in the file; that was seen to before.
  }
}
