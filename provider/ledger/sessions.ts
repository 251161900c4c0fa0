/** Which sessions are alive, by the lock that each holds, and the one lock under which all that is judged. */
import { join } from "node:path";
import type { Disk, Lock } from "./disk";
import type { NoLock } from "./fileLock";

export type Life = "alive" | "dead" | "unknown";

/** How long to wait for the common lock. Others hold it for milliseconds, unless their process is stopped. */
const longestWaitMs = 2000;
const common = "take";

export class Sessions {
  /** A session that has ended never comes back. */
  readonly #dead = new Set<string>();
  #isLocked = false;
  #waitMs = longestWaitMs;

  constructor(
    private readonly folder: string,
    private readonly own: string,
    private readonly disk: Disk,
  ) {}

  /** Where a session's records are. */
  fileOf(session: string): string {
    return join(this.folder, `${session}.jsonl`);
  }

  /** The sessions that have a file. @throws */
  withFile(): string[] {
    return this.#names(/^(\w+)\.jsonl$/);
  }

  /** The sessions that have a lock, with the path of it. @throws */
  withLock(): { session: string; path: string }[] {
    const sessions = this.#names(/^(\w+)\.lock$/).filter((it) => it !== common);
    return sessions.map((session) => ({ session, path: this.#lockOf(session) }));
  }

  #names(pattern: RegExp): string[] {
    return this.disk.list(this.folder).flatMap((name) => pattern.exec(name)?.[1] ?? []);
  }

  /** The own session's lock; undefined where files can't be locked. */
  start(): Lock | undefined {
    const lock = this.#lock(this.own, true);
    if (isTaken(lock)) return lock;
    this.forget(this.own);
    return undefined;
  }

  /** Removes a session's lock. Its file has to go before. */
  forget(session: string): void {
    this.disk.remove(this.#lockOf(session));
  }

  #lockOf(session: string): string {
    return join(this.folder, `${session}.lock`);
  }

  #lock(session: string, make: boolean, waitMs = 0): Lock | NoLock {
    return this.disk.lock(this.#lockOf(session), { make, waitMs });
  }

  /**
   * Runs `work` while no other session does this; it is told whether that could be seen to. Undefined
   * where another has the lock for too long.
   */
  locked<T>(work: (isLocked: boolean) => T): T | undefined {
    if (this.#isLocked) return work(true);
    const lock = this.#common(true);
    if (lock === "held") return undefined;
    const isLocked = (this.#isLocked = isTaken(lock));
    try {
      return work(isLocked);
    } finally {
      this.#isLocked = false;
      if (isLocked) lock.release();
    }
  }

  #common(make: boolean): Lock | NoLock {
    const lock = this.#lock(common, make, this.#waitMs);
    // Waiting blocks the process: once is enough.
    this.#waitMs = lock === "held" ? 0 : longestWaitMs;
    return lock;
  }

  /** Whether an earlier look has shown it to be dead. */
  isDead(session: string): boolean {
    return this.#dead.has(session);
  }

  /** Whether each of these sessions lives; "unknown" where the common lock is not to be had. Makes no file. */
  lives(sessions: ReadonlySet<string>): Map<string, Life> {
    const lives = new Map<string, Life>([...sessions].map((it) => [it, "dead"]));
    const unsure = [...sessions].filter((it) => !this.isDead(it));
    if (unsure.length === 0) return lives;
    const lock = this.#common(false);
    const isLocked = isTaken(lock);
    for (const it of unsure) lives.set(it, isLocked ? this.look(it) : "unknown");
    if (isLocked) lock.release();
    return lives;
  }

  /** Whether a session lives. Only inside `locked`, since a look takes that session's lock for a moment. */
  look(session: string): Life {
    if (session === this.own) return "alive";
    if (this.isDead(session)) return "dead";
    const lock = this.#lock(session, false);
    if (lock === "held") return "alive";
    if (lock === "failed") return "unknown";
    // A session's file goes before its lock: without both it was removed, and so was dead.
    if (lock === "missing" && this.disk.exists(this.fileOf(session))) return "unknown";
    if (isTaken(lock)) lock.release();
    this.#dead.add(session);
    return "dead";
  }
}

function isTaken(lock: Lock | NoLock): lock is Lock {
  return typeof lock === "object";
}
