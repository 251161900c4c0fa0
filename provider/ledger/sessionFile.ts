/** What one session leaves in the ledger's folder: a file with its records, and a lock that shows whether it is alive. */
import { join } from "node:path";
import type { Disk, Lock } from "./disk";
import {
  contestSchema,
  isAllowedChange,
  recordSchema,
  type Contest,
  type ContestMark,
  type LedgerRecord,
  type Liveness,
} from "./record";

const newline = 0x0a;

/** Ends a line that was written only in part. Its writer adds this before its next line, so that no damage is reported. */
const abandonedEnd = "#abandoned";

/** The longest wait for the session's own lock, which another process can only be testing at this moment. */
const ownLockWaitMs = 1000;

/**
 * The file `<session>.jsonl` has a line of JSON for each change. For each record, the last line that `isAllowedChange`
 * accepts counts, together with the lines that mark the record as contested. The session holds the lock `<session>.lock`
 * until it ends, if files can be locked.
 *
 * A change that could not be written can be kept in memory (`keep`). The next `append` writes it, too.
 */
export class SessionFile {
  readonly path: string;
  /** The records by key: as last read, plus the changes that are only in memory. */
  readonly records = new Map<string, LedgerRecord>();
  /** Whether a line is unreadable: neither a record of this session, nor a mark as contested, nor abandoned. */
  isDamaged = false;
  /** Whether the last line is incomplete: it is being written, or its write was interrupted. */
  endsWithinLine = false;
  /** Undefined if the file did not exist when it was last read. */
  stat: ReturnType<Disk["stat"]>;
  /** The session's lock, while this process holds it. */
  lock: Lock | undefined;
  readonly #sessionId: string;
  readonly #lockPath: string;
  readonly #disk: Disk;
  /** The keys of the records whose last change is only in memory. */
  readonly #unwritten = new Set<string>();
  /** By record key, the marks as contested: the last one of each run (`Contest.by`). */
  readonly #contests = new Map<string, Map<string, Contest>>();
  /** Whether this process's last write failed, and perhaps left a part of a line. */
  #lastWriteFailed = false;
  /** The size of the complete lines that were read. */
  #readBytes = 0;
  /** Whether the session was found dead, and so stays dead. */
  #isDead = false;

  constructor(sessionId: string, folder: string, disk: Disk) {
    this.path = join(folder, `${sessionId}.jsonl`);
    this.#sessionId = sessionId;
    this.#lockPath = join(folder, `${sessionId}.lock`);
    this.#disk = disk;
  }

  /**
   * Takes the lock, if files can be locked, and makes the file.
   *
   * @throws the error of the system if the file can't be made
   */
  make(): void {
    // The lock comes first. With only the file, other sessions could not find out whether this session is alive.
    if (!this.lock) {
      const lock = this.#disk.lock(this.#lockPath, { make: true, waitMs: ownLockWaitMs });
      if (lock.state === "taken") this.lock = lock;
      // If the lock file exists but is not locked, other sessions count this session as dead.
      else this.#disk.remove(this.#lockPath);
    }
    this.#disk.create(this.path);
  }

  /**
   * Reads the lines that were appended, if the file exists.
   *
   * @throws the error of the system if the file can't be read
   */
  refresh(): void {
    this.stat = this.#disk.stat(this.path);
    if (!this.stat || this.stat.size === this.#readBytes) return;
    const bytes = this.#disk.read(this.path, this.#readBytes);
    const lines = bytes.subarray(0, bytes.lastIndexOf(newline) + 1);
    this.#readBytes += lines.length;
    this.endsWithinLine = lines.length < bytes.length;
    for (const line of lines.toString().split("\n")) if (line !== "") this.#applyLine(line);
  }

  /** Whether changes are only in memory. */
  get hasUnwritten(): boolean {
    return this.#unwritten.size > 0;
  }

  /**
   * Appends a line for each record, and for each other record whose last change is only in memory.
   *
   * @throws the error of the system if that fails, for example because the file was removed
   */
  append(records: readonly LedgerRecord[] = []): void {
    this.refresh();
    const changed = new Map(records.map((record) => [record.key, record]));
    const missing = [...this.#unwritten].filter((key) => !changed.has(key));
    const written = [...missing.flatMap((key) => this.records.get(key) ?? []), ...changed.values()];
    this.#appendLines(written);
    this.#unwritten.clear();
  }

  /**
   * Marks records as contested, in lines of their own, so that no change of their owners gets lost.
   *
   * @throws the error of the system if that fails
   */
  contest(records: readonly LedgerRecord[], mark: ContestMark): void {
    this.refresh();
    this.#appendLines(records.map(({ key, owner }) => ({ contested: key, owner, ...mark })));
  }

  /** The marks as contested that were made while the record had its present owner: the last one of each run. */
  contestsOf({ key, owner }: LedgerRecord): Contest[] {
    return [...(this.#contests.get(key)?.values() ?? [])].filter(
      (contest) => contest.owner === owner,
    );
  }

  #appendLines(items: readonly (LedgerRecord | Contest)[]): void {
    const lines = items.map((item) => `${JSON.stringify(item)}\n`).join("");
    const end = this.#lastWriteFailed ? `${abandonedEnd}\n` : "\n";
    this.#lastWriteFailed = true;
    try {
      this.#disk.append(this.path, this.endsWithinLine ? end + lines : lines);
      this.#lastWriteFailed = false;
    } finally {
      this.refresh();
    }
  }

  /** Changes a record in memory, if the change is allowed. The next `append` writes it, unless a newer line is read. */
  keep(record: LedgerRecord): void {
    if (this.#apply(record)) this.#unwritten.add(record.key);
  }

  /** Tests whether the session, which is another one, is alive. */
  testLiveness(): Liveness {
    if (this.#isDead) return "dead";
    const state = this.#disk.testLock(this.#lockPath);
    if (state === "held") return "alive";
    // If one of its files exists, the session could not lock files, or the lock can't be tested now.
    if (state === "failed" && (this.stat || this.#disk.stat(this.#lockPath))) return "unknown";
    this.#isDead = true;
    return "dead";
  }

  /** Removes the files of a dead session. The lock is the last, since without it the session would not count as dead. */
  remove(): void {
    this.#disk.remove(this.path);
    this.#disk.remove(this.#lockPath);
  }

  /**
   * Removes the lock of a dead session that has no file: its removal was interrupted. A session that is just being made has no
   * file either, and may not hold its lock yet, so only a lock from before `madeBefore` (milliseconds since the epoch) counts.
   *
   * @throws the error of the system if the files can't be looked for
   */
  removeOrphanedLock(madeBefore: number): void {
    const lock = this.#disk.stat(this.#lockPath);
    if (!lock || lock.mtimeMs >= madeBefore || this.#disk.stat(this.path)) return;
    if (this.testLiveness() === "dead") this.#disk.remove(this.#lockPath);
  }

  #applyLine(line: string): void {
    if (line.endsWith(abandonedEnd)) return;
    try {
      const content: unknown = JSON.parse(line);
      const { data: contest } = contestSchema.safeParse(content);
      if (contest) return this.#applyContest(contest);
      const record = recordSchema.parse(content);
      if (record.session !== this.#sessionId) throw new Error("a record of another session");
      if (this.#apply(record)) this.#unwritten.delete(record.key);
    } catch {
      this.isDamaged = true;
    }
  }

  #applyContest(contest: Contest): void {
    const { contested, owner, by } = contest;
    const ofRecord = this.#contests.get(contested) ?? new Map<string, Contest>();
    this.#contests.set(contested, ofRecord.set(by, contest));
    const record = this.records.get(contested);
    if (record?.owner === owner) this.records.set(contested, { ...record, contested: true });
  }

  /** Returns whether the change is allowed. */
  #apply(record: LedgerRecord): boolean {
    const last = this.records.get(record.key);
    if (!isAllowedChange(last, record)) return false;
    const isContested = last?.contested && last.owner === record.owner;
    this.records.set(record.key, isContested ? { ...record, contested: true } : record);
    return true;
  }
}
