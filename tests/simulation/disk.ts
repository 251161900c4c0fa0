/**
 * A machine's disk in memory. A process that is killed may leave a temporary file behind. A power cut loses what was not
 * synced, but never folders: a file system that syncs a file keeps its folders. A path is always used either for files or for a
 * folder, as in the ledger.
 */
import { basename, dirname } from "node:path";
import { temporaryEnd, type Disk, type Lock } from "../../provider/ledger/disk";

/** How a simulation interferes with the operations of a process. */
export interface Hooks {
  /**
   * Called before each change. An error with a `code`, such as ENOSPC, fails the operation; any other kills the
   * process.
   */
  step(what: string, path: string): void;
  /** Called when a file is to be made whose name is taken. */
  taken?(path: string): void;
  /** Schedules the end of a sync. */
  later(run: () => void): void;
}

export interface ProcessDisk extends Disk {
  /** Releases the locks. Nothing that the process still does changes the disk. */
  kill(): void;
}

/** A file, which is written once. */
interface Inode {
  content: string;
  /** Whether the content survives a power cut. */
  isSynced: boolean;
  mtimeMs: number;
  lock?: Lock | undefined;
}

type Names = Map<string, Inode>;

interface Folder {
  names: Names;
  /**
   * The files that survive a power cut, and the number of the sync that kept them. Syncs are numbered as they begin.
   */
  synced: Names;
  sync: number;
}

export class MemoryDisk {
  #folders = new Map<string, Folder>();
  readonly #processes = new Set<ProcessDisk>();
  #syncs = 0;
  #temporaryFiles = 0;

  constructor(private readonly clock: { date(): Date }) {}

  processDisk(hooks: Hooks): ProcessDisk {
    const locks = new Set<Lock>();
    let isDead = false;

    const step = (what: string, path: string) => {
      if (isDead) throw new Error("the process is dead");
      try {
        hooks.step(what, path);
      } catch (error) {
        if (!isSystemError(error)) disk.kill();
        throw error;
      }
    };
    const sync = (path: string, done: () => void) => {
      step("sync", path);
      return new Promise<void>((resolve) => {
        hooks.later(() => {
          if (isDead) return;
          done();
          resolve();
        });
      });
    };

    const opened = (path: string): Inode => {
      const inode = this.#inode(path);
      if (inode) return inode;
      throw systemError("ENOENT", path);
    };
    const remove = (path: string) => {
      try {
        step("remove", path);
        this.#folders.get(dirname(path))?.names.delete(basename(path));
      } catch {
        // The system disk ignores this, too.
      }
    };
    /** Writes a temporary file, and gives it a name. */
    const write = (path: string, content: string, name: (inode: Inode) => void) => {
      const temporary = `${path}.1-${++this.#temporaryFiles}${temporaryEnd}`;
      step("write", temporary);
      const inode = this.#make(temporary, content);
      try {
        name(inode);
      } finally {
        remove(temporary);
      }
    };

    const disk: ProcessDisk = {
      list: (path) => {
        const { names } = this.#folder(path);
        const folders = [...this.#folders.keys()].filter((folder) => dirname(folder) === path);
        return [...names.keys(), ...folders.map((folder) => basename(folder))];
      },
      stat: (path) => {
        const inode = this.#inode(path);
        return inode && { mtimeMs: inode.mtimeMs };
      },
      makeFolder: (path) => {
        if (this.#folders.has(path)) return;
        step("makeFolder", path);
        for (
          let folder = path;
          !this.#folders.has(folder) && folder !== dirname(folder);
          folder = dirname(folder)
        ) {
          this.#folders.set(folder, { names: new Map(), synced: new Map(), sync: 0 });
        }
      },
      syncFolder: async (path) => {
        const folder = this.#folders.get(path);
        if (!folder) return;
        const names = new Map(folder.names);
        const number = ++this.#syncs;
        await sync(path, () => {
          if (number > folder.sync) Object.assign(folder, { synced: names, sync: number });
        });
      },
      create: (path, content) =>
        write(path, content, (inode) => {
          step("link", path);
          if (this.#inode(path)) hooks.taken?.(path);
          this.#name(path, inode);
        }),
      replace: (path, content) =>
        write(path, content, (inode) => {
          step("rename", path);
          this.#folder(dirname(path)).names.set(basename(path), inode);
        }),
      append: (path, content) => {
        step("append", path);
        const inode = this.#inode(path) ?? this.#make(path, "");
        inode.content += content;
      },
      read: (path) => opened(path).content,
      sync: async (path) => {
        const inode = opened(path);
        await sync(path, () => (inode.isSynced = true));
      },
      remove,
      removeFolder: (path) => {
        if (this.#folders.get(path)?.names.size === 0) this.#folders.delete(path);
      },
      lock: (path, { make }) => {
        let inode: Inode | undefined;
        let state: Lock["state"] = "failed";
        try {
          step("lock", path);
          inode = this.#inode(path) ?? (make ? this.#make(path, "") : undefined);
          if (inode?.lock) state = "held";
          // SQLite would treat a lock file with content as a broken database.
          else if (inode?.content === "") state = "taken";
        } catch {
          // The system disk can't lock the file either.
        }
        const release = () => {
          if (inode && locks.delete(lock)) inode.lock = undefined;
        };
        const lock: Lock = { state, [Symbol.dispose]: release };
        if (inode && state === "taken") {
          inode.lock = lock;
          locks.add(lock);
        }
        return lock;
      },
      testLock: (path) => {
        const inode = this.#inode(path);
        if (inode?.lock) return "held";
        return inode?.content === "" ? "free" : "failed";
      },
      kill: () => {
        isDead = true;
        for (const lock of locks) lock[Symbol.dispose]();
        this.#processes.delete(disk);
      },
    };
    this.#processes.add(disk);
    return disk;
  }

  /**
   * Kills every process. A file that was not synced keeps a random part of its content. Each name that was given or removed since
   * the last sync of its folder is as it was then, or as it is now, at random.
   */
  powerCut(random: () => number): void {
    for (const process of this.#processes) process.kill();
    for (const folder of this.#folders.values()) {
      const { names, synced } = folder;
      const left: Names = new Map();
      for (const name of new Set([...synced.keys(), ...names.keys()])) {
        const isSame = names.get(name) === synced.get(name);
        const inode = (isSame || random() < 0.5 ? names : synced).get(name);
        if (inode) left.set(name, inode);
      }
      for (const inode of left.values()) {
        if (!inode.isSynced)
          inode.content = inode.content.slice(0, Math.floor(random() * (inode.content.length + 1)));
        inode.isSynced = true;
      }
      Object.assign(folder, { names: left, synced: new Map(left) });
    }
  }

  /** Returns a copy of the disk without its processes and their locks. */
  copy(): MemoryDisk {
    const copies = new Map<Inode, Inode>();
    const copyOf = (inode: Inode) => {
      const copy = copies.get(inode) ?? { ...inode, lock: undefined };
      copies.set(inode, copy);
      return copy;
    };
    const namesOf = (names: Names) =>
      new Map([...names].map(([name, inode]) => [name, copyOf(inode)]));
    const copy = new MemoryDisk(this.clock);
    for (const [path, { names, synced, sync }] of this.#folders) {
      copy.#folders.set(path, { names: namesOf(names), synced: namesOf(synced), sync });
    }
    copy.#syncs = this.#syncs;
    return copy;
  }

  #folder(path: string): Folder {
    const folder = this.#folders.get(path);
    if (folder) return folder;
    throw systemError("ENOENT", path);
  }

  #inode(path: string): Inode | undefined {
    return this.#folders.get(dirname(path))?.names.get(basename(path));
  }

  #make(path: string, content: string): Inode {
    const inode = { content, isSynced: false, mtimeMs: this.clock.date().getTime() };
    this.#name(path, inode);
    return inode;
  }

  /** @throws EEXIST if the name is taken */
  #name(path: string, inode: Inode): void {
    if (this.#inode(path)) throw systemError("EEXIST", path);
    this.#folder(dirname(path)).names.set(basename(path), inode);
  }
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

function isSystemError(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code !== undefined;
}
