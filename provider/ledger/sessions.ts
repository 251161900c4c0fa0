/** Which sessions are alive: each holds a lock while it runs. One common lock guards whoever tests the others. */
import { join } from "node:path";
import type { Disk, Lock, LockFailure } from "./disk";

/** "unknown" where files can't be locked, or the common lock is not to be had. */
export type Liveness = "alive" | "dead" | "unknown";

/** How long to wait for the common lock. Others hold it for milliseconds, unless their process is stopped. */
const maxWaitMs = 2000;
const commonLock = "take";

/** The sessions that have written to one ledger folder. */
export class Sessions {
  readonly #folder: string;
  readonly #ownSession: string;
  readonly #disk: Disk;
  /** A dead session never comes back. */
  readonly #dead = new Set<string>();
  #waitMs = maxWaitMs;

  constructor(folder: string, ownSession: string, disk: Disk) {
    this.#folder = folder;
    this.#ownSession = ownSession;
    this.#disk = disk;
  }

  /** The file with a session's records. */
  fileOf(session: string): string {
    return join(this.#folder, `${session}.jsonl`);
  }

  /** The sessions that have a file with records. @throws where the folder can't be read */
  withFile(): string[] {
    return this.#disk.list(this.#folder).flatMap((name) => /^(\w+)\.jsonl$/.exec(name)?.[1] ?? []);
  }

  /** Takes the own session's lock. Undefined where files can't be locked. */
  lockOwn(): Lock | undefined {
    const lock = this.#lock(this.#ownSession, true);
    if (typeof lock === "object") return lock;
    // Else others could take the lock, and call this session dead.
    this.removeLock(this.#ownSession);
    return undefined;
  }

  /** Removes a session's lock file. The file with its records has to be removed before. */
  removeLock(session: string): void {
    this.#disk.remove(this.#lockPath(session));
  }

  /**
   * Runs `work` under the common lock, or without it where files can't be locked. Undefined if another
   * session keeps the lock for too long.
   */
  runLocked<T>(work: (isLocked: boolean) => T): T | undefined {
    const lock = this.#takeCommonLock(true);
    if (lock === "held") return undefined;
    try {
      return work(typeof lock === "object");
    } finally {
      if (typeof lock === "object") lock.release();
    }
  }

  /** Whether each of these sessions is alive. Makes no file. */
  livenessOf(sessions: ReadonlySet<string>): Map<string, Liveness> {
    const liveness = new Map<string, Liveness>([...sessions].map((it) => [it, "dead"]));
    const others = [...sessions].filter((it) => !this.#dead.has(it));
    if (others.length === 0) return liveness;
    const lock = this.#takeCommonLock(false);
    const isLocked = typeof lock === "object";
    for (const it of others) liveness.set(it, isLocked ? this.testLiveness(it) : "unknown");
    if (isLocked) lock.release();
    return liveness;
  }

  /** Whether a session is alive. Only under the common lock: the test takes the session's lock for a moment. */
  testLiveness(session: string): Liveness {
    if (session === this.#ownSession) return "alive";
    if (this.#dead.has(session)) return "dead";
    const lock = this.#lock(session, false);
    if (lock === "held") return "alive";
    if (lock === "failed") return "unknown";
    // A dead session's file is removed before its lock. With a file and no lock, it could not lock.
    if (lock === "missing" && this.#disk.stat(this.fileOf(session))) return "unknown";
    if (typeof lock === "object") lock.release();
    this.#dead.add(session);
    return "dead";
  }

  #takeCommonLock(make: boolean): Lock | LockFailure {
    const lock = this.#lock(commonLock, make, this.#waitMs);
    // Waiting blocks the process: after one wait in vain, the next calls do not wait.
    this.#waitMs = lock === "held" ? 0 : maxWaitMs;
    return lock;
  }

  #lock(session: string, make: boolean, waitMs = 0): Lock | LockFailure {
    return this.#disk.lock(this.#lockPath(session), { make, waitMs });
  }

  #lockPath(session: string): string {
    return join(this.#folder, `${session}.lock`);
  }
}
