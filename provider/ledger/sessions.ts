/**
 * Finds out which sessions are alive. A session that writes records holds a lock until it ends, if files can be
 * locked. To test another session's lock, a session takes that lock for a moment. A second tester would then see it held,
 * and count a dead session as alive. So each test holds the common lock. The ledger uses this file.
 */
import { join } from "node:path";
import type { Disk, Lock, LockFailure } from "./disk";

/** Whether a session is alive. "unknown" if the common lock was not obtained, or the session's lock could not be tested. */
export type Liveness = "alive" | "dead" | "unknown";

/** The longest wait for the common lock. Other processes hold it for milliseconds, unless they are stopped. */
const maxWaitMs = 2000;
/** The name of the common lock's file, without `.lock`. */
const commonLockName = "common";

/** The sessions that have written records to one ledger folder. */
export class Sessions {
  readonly #folder: string;
  readonly #ownSessionId: string;
  readonly #disk: Disk;
  /** The ids of the sessions that were found dead. A dead session never becomes alive again. */
  readonly #dead = new Set<string>();
  /** How long the next attempt to take the common lock may wait. */
  #waitMs = maxWaitMs;

  constructor(folder: string, ownSessionId: string, disk: Disk) {
    this.#folder = folder;
    this.#ownSessionId = ownSessionId;
    this.#disk = disk;
  }

  /** Returns the path of the file with a session's records. */
  filePath(sessionId: string): string {
    return join(this.#folder, `${sessionId}.jsonl`);
  }

  /**
   * Returns the ids of the sessions that have a file with records.
   *
   * @throws the error of the system if the folder can't be read
   */
  idsWithFile(): string[] {
    return this.#disk.list(this.#folder).flatMap((name) => /^(\w+)\.jsonl$/.exec(name)?.[1] ?? []);
  }

  /** Takes the lock of this session. Returns undefined if files can't be locked. */
  lockOwn(): Lock | undefined {
    const lock = this.#lock(this.#ownSessionId, { make: true });
    if (typeof lock === "object") return lock;
    // If the lock file exists but is not locked, other sessions count this session as dead.
    this.removeLock(this.#ownSessionId);
    return undefined;
  }

  /** Removes a session's lock file. Must not be called while the session has a file with records. */
  removeLock(sessionId: string): void {
    this.#disk.remove(this.#lockPath(sessionId));
  }

  /**
   * Runs `work` while this session holds the common lock, or without the lock if files can't be locked; `isLocked` says
   * which. Returns undefined, without running `work`, if another session holds the common lock for too long.
   */
  runLocked<T>(work: (isLocked: boolean) => T): T | undefined {
    const lock = this.#takeCommonLock({ make: true });
    if (lock === "held") return undefined;
    try {
      return work(typeof lock === "object");
    } finally {
      if (typeof lock === "object") lock.release();
    }
  }

  /** Returns whether each of these sessions is alive. Makes no lock file. */
  livenessOf(sessionIds: ReadonlySet<string>): Map<string, Liveness> {
    const liveness = new Map<string, Liveness>([...sessionIds].map((id) => [id, "dead"]));
    const untested = [...sessionIds].filter((id) => !this.#dead.has(id));
    if (untested.length === 0) return liveness;
    const lock = this.#takeCommonLock({ make: false });
    const isLocked = typeof lock === "object";
    for (const id of untested) liveness.set(id, isLocked ? this.testLiveness(id) : "unknown");
    if (isLocked) lock.release();
    return liveness;
  }

  /**
   * Tests whether a session is alive. The caller has to hold the common lock, since the test takes the session's lock
   * for a moment.
   */
  testLiveness(sessionId: string): Liveness {
    if (sessionId === this.#ownSessionId) return "alive";
    if (this.#dead.has(sessionId)) return "dead";
    const lock = this.#lock(sessionId, { make: false });
    if (lock === "held") return "alive";
    if (lock === "failed") return "unknown";
    // Pruning removes the records file before the lock file. So a session with a records file but no lock file could not
    // lock files.
    if (lock === "missing" && this.#disk.stat(this.filePath(sessionId))) return "unknown";
    if (typeof lock === "object") lock.release();
    this.#dead.add(sessionId);
    return "dead";
  }

  #takeCommonLock({ make }: { make: boolean }): Lock | LockFailure {
    const lock = this.#lock(commonLockName, { make, waitMs: this.#waitMs });
    // A wait blocks the process. So after a wait that did not get the lock, the next attempts do not wait. Once an attempt
    // has found the lock free, attempts may wait again.
    this.#waitMs = lock === "held" ? 0 : maxWaitMs;
    return lock;
  }

  #lock(
    name: string,
    { make, waitMs = 0 }: { make: boolean; waitMs?: number },
  ): Lock | LockFailure {
    return this.#disk.lock(this.#lockPath(name), { make, waitMs });
  }

  #lockPath(name: string): string {
    return join(this.#folder, `${name}.lock`);
  }
}
