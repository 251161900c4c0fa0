/**
 * The ledger in the Pulumi home: a file for each create under way or in doubt, so that no instance is lost (G1), and none is made
 * twice (G2). A file is made before its create looks at anything, and goes once nothing is in doubt. Since it can be made only
 * once, it is also the lock of its resource. `record.ts` has the rules. A disk error causes a warning, and the create goes on.
 */
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Once } from "../once";
import { codeOf, isMissing, systemDisk, temporaryEnd, type Disk, type Lock } from "./disk";
import {
  endsDoubt,
  endsInOrder,
  fileNameOf,
  isIdle,
  isNamedAtEnd,
  recordSchema,
  unsent,
  type Change,
  type EndingRun,
  type Found,
  type LedgerRecord,
  type Liveness,
  type Identity,
  type Shown,
} from "./record";

/** What a create finds when it makes its record. */
export type Claimed = { kind: "made" } | InFile;

/** What the file of a resource says. */
export type InFile = ({ kind: "found" } & Found) | { kind: "unreadable"; path: string };

/** What a ledger needs. */
export interface LedgerOptions {
  /** Undefined for a session that writes none, and that finds none (`pulumi do --stateless`). */
  folder: string | undefined;
  /**
   * The id of the session, different for each: letters, digits and `_`. A command has none: its ledger makes no record, and takes
   * none over.
   */
  session?: string | undefined;
  warn: (message: string) => void;
  clock: { date(): Date };
  disk?: Disk | undefined;
  /** What the run has said already. */
  said?: Once;
}

/** The longest wait for a lock. A live session keeps its own. Others hold it for milliseconds, to test it or to change a record. */
const lockWaitMs = 1000;
/** The age at which locks and temporary files of dead sessions go. No session takes as long to begin. */
const orphanAgeMs = 24 * 60 * 60 * 1000;
const lockEnd = ".lock";

/** The records of creates in doubt of one state backend on this machine, as one session reads and writes them. */
export class Ledger {
  readonly #folder: string | undefined;
  readonly #session: string;
  readonly #warn: (message: string) => void;
  readonly #clock: { date(): Date };
  readonly #disk: Disk;
  /** By URN, the records that this session owns. */
  readonly #records = new Map<string, LedgerRecord>();
  /** The URNs of the records that have a file. */
  readonly #onDisk = new Set<string>();
  /** The URNs of the records whose last change is in no file yet. */
  readonly #unwritten = new Set<string>();
  /** By id, the instances that the engine has shown with a stamp. */
  readonly #shown = new Map<string, Shown>();
  /** The sessions that were found dead, and so stay dead. */
  readonly #dead = new Set<string>();
  readonly #said: Once;
  #isOpened = false;
  #lock: Lock | undefined;
  /** The last sync that was asked for. */
  #lastSync = Promise.resolve();
  /** The sync that is queued but has not begun, and its files. Creates share it. */
  #nextSync: Promise<void> | undefined;
  #toSync = new Set<string>();
  /** Set when the session has ended. Resolves when the lock is released. */
  #closed: Promise<void> | undefined;

  constructor(options: LedgerOptions) {
    const { folder, session = "", warn, clock, disk = systemDisk, said = new Once() } = options;
    this.#folder = folder;
    this.#session = session;
    this.#warn = warn;
    this.#clock = clock;
    this.#disk = disk;
    this.#said = said;
  }

  // ── The records of this session ────────────────────────────────────────────────────────────────

  /** Makes the record of a create, or returns what the file of its resource says. */
  claim(identity: Identity, isAgain = false): Claimed {
    const { urn } = identity;
    const mine = this.#records.get(urn);
    if (mine) return { kind: "found", record: mine, liveness: "alive" };
    const record = unsent(identity);
    try {
      if (this.#open()) {
        this.#disk.create(this.#pathOf(urn), contentOf(record));
        this.#onDisk.add(urn);
      }
    } catch (error) {
      // On a full disk, or in a folder that is only read, a file in doubt still stops the create.
      const found = this.find(urn);
      // A file system may say that the file exists that it has just made.
      const isOwn = found?.kind === "found" && found.record.session === this.#session;
      const isThere = found?.kind === "found" || codeOf(error) === "EEXIST";
      if (found && isThere && !isOwn) return found;
      if (isOwn) this.#onDisk.add(urn);
      else if (codeOf(error) === "EEXIST")
        // The file is gone by now. If the second try fails, too, the name is that of a link to nothing.
        return isAgain
          ? { kind: "unreadable", path: this.#pathOf(urn) }
          : this.claim(identity, true);
      else this.#warnOfWrite(error);
    }
    this.#records.set(urn, record);
    return { kind: "made" };
  }

  /** Returns what the file of the resource says. Undefined if there is none. */
  find(urn: string): InFile | undefined {
    const mine = this.#records.get(urn);
    if (mine) return { kind: "found", record: mine, liveness: "alive" };
    return this.#folder === undefined ? undefined : this.#read(fileNameOf(urn));
  }

  /**
   * Makes this session the owner of a record that `claim` has found. Returns false if it has changed since, or if a lock or a
   * write fails. If several sessions try, at most one succeeds.
   */
  takeOver(record: LedgerRecord): boolean {
    const { urn } = record;
    if (this.#records.has(urn)) return true;
    // Other sessions have to see that the new owner is alive.
    if (!this.#tryToWrite(() => this.#open()) || !this.#lock || this.#closed) return false;
    const taken = { ...record, session: this.#session };
    return this.#changeOfDead(record, (path) => {
      if (!this.#tryToWrite(() => this.#disk.replace(path, contentOf(taken)))) return false;
      this.#records.set(urn, taken);
      this.#onDisk.add(urn);
      return true;
    });
  }

  /** The record that this session has for the resource. */
  recordOf(urn: string): LedgerRecord | undefined {
    return this.#records.get(urn);
  }

  /** Writes that a POST is about to be sent. Resolves once the file, if there is one, survives a power cut, or after a warning. */
  async prepare(
    urn: string,
    change: Required<Pick<Change, "at" | "before">> & Pick<Change, "flavor">,
  ): Promise<void> {
    if (this.#closed) this.#warnOfWrite(new Error("the run has ended"));
    this.update(urn, change);
    if (this.#onDisk.has(urn)) await this.#sync(this.#pathOf(urn));
  }

  /** Changes a record that this session owns, at once and without a sync. */
  update(urn: string, change: Change): void {
    const record = this.#records.get(urn);
    if (record) this.#put({ ...record, ...change });
  }

  /** Makes the record anew, as one that has sent no POST. */
  clear(identity: Identity): void {
    if (this.#records.has(identity.urn)) this.#put(unsent(identity));
  }

  /** Ends the doubt about a resource. The file goes. */
  remove(urn: string): void {
    if (!this.#records.delete(urn)) return;
    this.#unwritten.delete(urn);
    if (this.#onDisk.delete(urn) && !this.#closed) this.#disk.remove(this.#pathOf(urn));
  }

  // ── The records of others ──────────────────────────────────────────────────────────────────────

  /** Returns the ids in the records of other resources. */
  idsOfOthers(urn: string): Set<string> {
    return new Set(
      this.all().flatMap(({ record }) => (record.urn === urn ? [] : (record.id ?? []))),
    );
  }

  /** Returns all records of this backend that can be read. */
  all(): Found[] {
    const inMemory = [...this.#records.values()].filter(({ urn }) => !this.#onDisk.has(urn));
    const found: Found[] = [];
    for (const name of this.#list().filter((one) => one.endsWith(".json"))) {
      const file = this.#read(name);
      if (file?.kind === "found") found.push(file);
      if (file?.kind === "unreadable")
        this.#warnOnce(
          file.path,
          `a file of the ledger can't be read, and stops the create of its resource, which then says what to do: ${file.path}`,
        );
    }
    return [...found, ...inMemory.map((record) => ({ record, liveness: "alive" as const }))];
  }

  /**
   * Notes a call of the engine that shows an instance, and ends the doubt about its resource if the call can. Returns whether that
   * also takes a listing.
   */
  noteShown(shown: Shown): boolean {
    const { id, urn, stamp, origin } = shown;
    if (stamp === undefined) return false;
    this.#shown.set(id, { id, urn, stamp, origin });
    const found = urn === undefined ? undefined : this.find(urn);
    if (found?.kind !== "found") return false;
    if (!endsDoubt(found, shown, this.#session))
      return endsDoubt(found, shown, this.#session, new Set([id]));
    this.removeOfDead(found.record);
    return false;
  }

  /** Removes the record of a session that is dead. Returns whether it was there, unchanged. */
  removeOfDead(record: LedgerRecord): boolean {
    return this.#changeOfDead(record, (path) => {
      this.#disk.remove(path);
      return true;
    });
  }

  /** Removes a record that a person has decided about, also where files can't be locked. Returns whether its file is gone. */
  forget(record: LedgerRecord): boolean {
    if (this.#testLiveness(record.session) !== "unknown") this.removeOfDead(record);
    else if (this.#isUnchanged(record)) this.#disk.remove(this.#pathOf(record.urn));
    return this.find(record.urn) === undefined;
  }

  // ── The end of a run ───────────────────────────────────────────────────────────────────────────

  /** Ends the doubt about what this session has given to its engine, which has saved it: the run ends in order. */
  endInOrder(): void {
    for (const record of [...this.#records.values()])
      if (endsInOrder(record, this.#session)) this.remove(record.urn);
  }

  /**
   * Ends the doubt about what the engine has shown, and returns what this run has to name.
   *
   * @param namesakesOf the listed instances of a record's name, as `endsDoubt` takes them
   */
  endRun(
    run: EndingRun,
    namesakesOf: (record: LedgerRecord) => ReadonlySet<string> | undefined,
  ): LedgerRecord[] {
    this.#writeMissing();
    const named: LedgerRecord[] = [];
    const shown = [...this.#shown.values()];
    for (const found of this.all().filter(({ liveness }) => liveness === "dead")) {
      const { record } = found;
      const namesakes = namesakesOf(record);
      const isShown = shown.some((one) => endsDoubt(found, one, this.#session, namesakes));
      if (isShown || isIdle(record)) this.removeOfDead(record);
      else if (isNamedAtEnd(record, run)) named.push(record);
    }
    this.#removeOrphans();
    return named;
  }

  /**
   * Ends the session. Tries once more to write what could not be written, then writes nothing any more, and releases the
   * session's lock after the last sync. Never rejects.
   */
  close(): Promise<void> {
    this.#writeMissing();
    this.#closed ??= this.#lastSync.then(() => {
      this.#lock?.[Symbol.dispose]();
      // With a record, others need the lock to see that this session is dead.
      if (this.#lock && this.#onDisk.size === 0) this.#disk.remove(this.#lockPathOf(this.#session));
    });
    return this.#closed;
  }

  // ── Files ──────────────────────────────────────────────────────────────────────────────────────

  #pathOf(urn: string): string {
    return join(this.#folder ?? "", fileNameOf(urn));
  }

  #lockPathOf(session: string): string {
    return join(this.#folder ?? "", session + lockEnd);
  }

  /**
   * Takes this session's lock, if files can be locked. Returns false if this ledger makes no record: it has no folder or no session, or
   * is closed. Without a lock, other sessions can't tell whether this one is alive, and stop.
   *
   * @throws the error of the system if the folder can't be made, or neither the lock nor the file in its place
   */
  #open(): boolean {
    if (this.#folder === undefined || this.#session === "" || this.#closed) return false;
    if (this.#isOpened) return true;
    this.#disk.makeFolder(this.#folder);
    const path = this.#lockPathOf(this.#session);
    const lock = this.#disk.lock(path, { make: true, waitMs: lockWaitMs });
    if (lock.state === "taken") this.#lock = lock;
    // Nobody can lock a file with content, so nobody takes this session for dead.
    else this.#disk.replace(path, "This session could not lock its file.\n");
    this.#isOpened = true;
    return true;
  }

  /** Keeps a record of this session, and writes its file, if it has one. */
  #put(record: LedgerRecord): void {
    this.#records.set(record.urn, record);
    this.#unwritten.add(record.urn);
    this.#writeMissing();
  }

  /** Writes the changes that are not in the files yet. */
  #writeMissing(): void {
    if (this.#closed) return;
    for (const urn of this.#unwritten) {
      const record = this.#records.get(urn);
      if (!record || !this.#onDisk.has(urn)) continue;
      const write = () => this.#disk.replace(this.#pathOf(urn), contentOf(record));
      if (this.#tryToWrite(write)) this.#unwritten.delete(urn);
    }
  }

  /** Resolves once the file survives a power cut, or after a warning. */
  #sync(path: string): Promise<void> {
    this.#toSync.add(path);
    this.#nextSync ??= this.#lastSync = this.#lastSync
      .then(async () => {
        this.#nextSync = undefined;
        const paths = [...this.#toSync];
        this.#toSync = new Set();
        await Promise.all(paths.map((each) => this.#disk.sync(each)));
        await this.#disk.syncFolder(this.#folder ?? "");
      })
      .catch((error: unknown) => this.#warnOfWrite(error));
    return this.#nextSync;
  }

  /** Returns what a file says. Undefined if there is none. */
  #read(name: string): InFile | undefined {
    const path = join(this.#folder ?? "", name);
    try {
      const text = this.#disk.read(path);
      const record = recordSchema.parse(JSON.parse(text));
      if (fileNameOf(record.urn) !== name) return { kind: "unreadable", path };
      const liveness = this.#testLiveness(record.session);
      // A session that ends in order removes its files before it is dead, perhaps since this one was read.
      if (liveness === "dead" && this.#disk.read(path) !== text) return this.#read(name);
      return { kind: "found", record, liveness };
    } catch (error) {
      return isMissing(error) ? undefined : { kind: "unreadable", path };
    }
  }

  /** Returns the names in the folder. */
  #list(): string[] {
    if (this.#folder === undefined) return [];
    try {
      return this.#disk.list(this.#folder);
    } catch (error) {
      if (!isMissing(error))
        this.#warnOnce(
          "read",
          `the ledger can't be read (${messageOf(error)}): ${this.#folder}. What a killed run has left in doubt is not found.`,
        );
      return [];
    }
  }

  /**
   * Changes the file of a record whose owner is dead, while holding the owner's lock, so that no other session does meanwhile.
   * Returns false if the record has changed, if its owner is not dead, or if the lock can't be had.
   */
  #changeOfDead(record: LedgerRecord, work: (path: string) => boolean): boolean {
    const { urn, session } = record;
    if (this.#closed || session === this.#session) return false;
    using lock = this.#disk.lock(this.#lockPathOf(session), { make: true, waitMs: lockWaitMs });
    if (lock.state !== "taken") return false;
    return this.#isUnchanged(record) && work(this.#pathOf(urn));
  }

  #isUnchanged(record: LedgerRecord): boolean {
    const latest = this.#read(fileNameOf(record.urn));
    return latest?.kind === "found" && isDeepStrictEqual(latest.record, record);
  }

  #testLiveness(session: string): Liveness {
    if (session === this.#session) return "alive";
    if (this.#dead.has(session)) return "dead";
    const state = this.#disk.testLock(this.#lockPathOf(session));
    if (state === "held") return "alive";
    // If the file is there, its session could not lock it, or the test fails now. If not, a power cut may have lost its name.
    if (state === "failed" && this.#disk.stat(this.#lockPathOf(session))) return "unknown";
    this.#dead.add(session);
    return "dead";
  }

  /** Removes the locks of dead sessions that have no record, and what they were writing when they were killed. */
  #removeOrphans(): void {
    const owners = new Set(this.all().map(({ record }) => record.session));
    const oldest = this.#clock.date().getTime() - orphanAgeMs;
    for (const name of this.#list()) {
      const session = name.endsWith(lockEnd) ? name.slice(0, -lockEnd.length) : undefined;
      if (session === undefined && !name.endsWith(temporaryEnd)) continue;
      if (session !== undefined && owners.has(session)) continue;
      const path = join(this.#folder ?? "", name);
      const isOld = (this.#disk.stat(path)?.mtimeMs ?? Infinity) < oldest;
      if (isOld && (session === undefined || this.#testLiveness(session) === "dead"))
        this.#disk.remove(path);
    }
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
    this.#warnOnce(writeSubject, writeWarning(error, this.#folder));
  }

  #warnOnce(subject: string, message: string): void {
    if (this.#said.markSaid(subject)) this.#warn(message);
  }
}

/** For `Once`: the warning of what can't be written, here or in the run's folder. */
export const writeSubject = "write";

/** Returns that warning. It holds for each of the two, since a run says it once. */
export function writeWarning(error: unknown, folder = ""): string {
  return `the provider's files can't be written (${messageOf(error)}): if this run is killed while it creates an instance, the next run may not know, and a resource that changes its provider may lose the old instance before the new one is ready. Check that ${folder} is writable and that its disk has room`;
}

function contentOf(record: LedgerRecord): string {
  return `${JSON.stringify(record)}\n`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
