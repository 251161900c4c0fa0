/** Finds out which sessions are alive, by their locks. */
import { join } from "node:path";
import type { Disk, Lock } from "./disk";
import { sessionFilePath } from "./sessionFile";

/** Whether a session is alive. "unknown" if locks can't show it now. */
export type Liveness = "alive" | "dead" | "unknown";

/** The longest wait for the common lock. Other processes hold it for milliseconds, unless they are stopped. */
const maxWaitMs = 2000;

/**
 * The sessions that have written records to one ledger folder. Each holds a lock until it ends, if files can be locked. To
 * test a session's lock is to take it for a moment. Since a second tester would count a dead session as alive meanwhile,
 * each test holds the common lock.
 */
export class Sessions {
  readonly #folder: string;
  readonly #ownSessionId: string;
  readonly #disk: Disk;
  /** How long the next attempt to take the common lock may wait. */
  #waitMs = maxWaitMs;
  /** The sessions that were found dead, and so stay dead. */
  readonly #dead = new Set<string>();

  constructor(folder: string, ownSessionId: string, disk: Disk) {
    this.#folder = folder;
    this.#ownSessionId = ownSessionId;
    this.#disk = disk;
  }

  /** Takes the lock of this session. Returns undefined if files can't be locked. */
  lockOwn(): Lock | undefined {
    const path = this.#lockPath(this.#ownSessionId);
    const lock = this.#disk.lock(path, { make: true, waitMs: 0 });
    if (typeof lock === "object") return lock;
    // If the lock file exists but is not locked, other sessions count this session as dead.
    this.#disk.remove(path);
    return undefined;
  }

  /** Removes a session's lock file. Must not be called while the session has a file with records. */
  removeLock(sessionId: string): void {
    this.#disk.remove(this.#lockPath(sessionId));
  }

  /**
   * Runs `work` while this session holds the common lock, or without the lock if files can't be locked (or, without `make`,
   * if there is no lock file); `isLocked` says which. Returns undefined, without running `work`, if another session holds
   * the lock for too long.
   */
  runLocked<T>(work: (isLocked: boolean) => T, { make } = { make: true }): T | undefined {
    const lock = this.#disk.lock(this.#lockPath("common"), { make, waitMs: this.#waitMs });
    // A wait blocks the process. So after a wait in vain, the next attempts do not wait until the lock was free once.
    this.#waitMs = lock === "held" ? 0 : maxWaitMs;
    if (lock === "held") return undefined;
    try {
      return work(typeof lock === "object");
    } finally {
      if (typeof lock === "object") lock.release();
    }
  }

  /** Returns whether this session and each of these sessions are alive. Makes no lock file. */
  livenessOf(sessionIds: readonly string[]): Map<string, Liveness> {
    const own = this.#ownSessionId;
    const ids = new Set(sessionIds);
    const untested = [...ids].filter((id) => id !== own && !this.#dead.has(id));
    const liveness = new Map<string, Liveness>([...ids].map((id) => [id, "dead"]));
    for (const id of untested) liveness.set(id, "unknown");
    if (untested.length > 0) {
      const testAll = (isLocked: boolean) => {
        if (isLocked) for (const id of untested) liveness.set(id, this.testLiveness(id));
      };
      this.runLocked(testAll, { make: false });
    }
    return liveness.set(own, "alive");
  }

  /** Tests whether a session is alive. The caller has to hold the common lock. */
  testLiveness(sessionId: string): Liveness {
    if (sessionId === this.#ownSessionId) return "alive";
    const lock = this.#disk.lock(this.#lockPath(sessionId), { make: false, waitMs: 0 });
    if (lock === "held") return "alive";
    if (lock === "failed") return "unknown";
    if (typeof lock === "object") lock.release();
    // Pruning removes the records file before the lock file. So a session with a records file but no lock file could not
    // lock files.
    const hasFile = this.#disk.stat(sessionFilePath(this.#folder, sessionId)) !== undefined;
    if (lock === "missing" && hasFile) return "unknown";
    this.#dead.add(sessionId);
    return "dead";
  }

  #lockPath(name: string): string {
    return join(this.#folder, `${name}.lock`);
  }
}
