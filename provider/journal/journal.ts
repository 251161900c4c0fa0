/**
 * A small record, in the Pulumi home, of creates whose outcome the state does not hold yet (G1): a
 * run that dies between POST and answer is not silent. It holds no secrets. A runner without a
 * lasting disk has no journal; nothing here may ever fail an operation, only warn.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { originSchema, type Origin } from "../origin";

const entrySchema = z.object({
  ...originSchema.shape,
  urn: z.string(),
  /** The program's own provider of the resource, for the commands that name it. */
  provider: z.string().optional(),
  name: z.string(),
  /** Keyed digest of what was asked for, to tell whether the program still asks for the same. */
  digest: z.string(),
  /** When the POST was about to be sent (ISO 8601). */
  at: z.string(),
  /** Instances that can't be the one created: of the same name before the POST, or of this URN before it. */
  before: z.array(z.string()),
  /** Whether `before` is all there was of that name. */
  beforeComplete: z.boolean(),
  /** Whether the state held an instance of this resource before the POST. */
  replaces: z.boolean(),
  id: z.string().optional(),
  /** Whether the engine surely had the answer: it took leave afterwards. */
  answered: z.literal(true).optional(),
  /** Whether the service called it refused, in words that the document does not give, and no listing showed it. */
  refused: z.literal(true).optional(),
  /** What only the 202 shows; kept for the run that takes the instance over. */
  accepted: z
    .object({
      createdAt: z.string().optional(),
      networks: z.array(
        z.object({
          type: z.string(),
          ipv4: z.string().optional(),
          mac_address: z.string().optional(),
        }),
      ),
    })
    .optional(),
});
export type JournalEntry = z.infer<typeof entrySchema>;

export type Place = Pick<Origin, "baseUrl" | "tokenKind">;

export class Journal {
  /** Files that were there at the last look, or that this process wrote; the rest need no look. */
  #files: Set<string> | undefined;
  /** Their entries, as far as they have an id; loaded when first asked for. */
  #withId: Map<string, JournalEntry> | undefined;
  readonly #complaints = new Set<string>();

  constructor(
    private readonly folder: string,
    private readonly warn: (text: string) => void,
  ) {}

  /** From now on, also what other processes have written since the first look. */
  lookAgain(): void {
    this.#files = undefined;
    this.#withId = undefined;
  }

  /** The entry left open for this resource, if any. */
  find(place: Place, urn: string): JournalEntry | undefined {
    const file = fileName(place, urn);
    if (!this.#known().has(file)) return undefined;
    try {
      return entrySchema.parse(JSON.parse(readFileSync(join(this.folder, file), "utf8")));
    } catch (error) {
      if (isMissing(error)) this.#forget(file);
      else {
        this.#complain(
          file,
          `an entry of the journal of unfinished creates can't be read and was passed over: ${join(this.folder, file)}. If an earlier run was killed, look in the service's list for an instance that no stack has`,
        );
      }
      return undefined;
    }
  }

  /** Written before a POST, and again with the id once it is known. */
  write(entry: JournalEntry): void {
    const file = fileName(entry, entry.urn);
    const temporary = join(this.folder, `.${file}.${process.pid}`);
    try {
      makeFolder(this.folder);
      writeFileSync(temporary, JSON.stringify(entry, undefined, 2) + "\n", { mode: 0o600 });
      renameSync(temporary, join(this.folder, file));
      this.#known().add(file);
      if (entry.id === undefined) this.#withId?.delete(file);
      else this.#withId?.set(file, entry);
    } catch (error) {
      remove(temporary);
      this.#complain(
        "write",
        `the journal of unfinished creates can't be written (${reason(error)}): should this run be killed while it creates an instance, the next one will not know of it. Make ${this.folder} writable, or set PULUMI_HOME.`,
      );
    }
  }

  /** The engine has taken leave, so it had this id. It may do so twice; once is enough to note. */
  answered(place: Place, id: string): void {
    for (const urn of this.resourcesOf(place, id)) {
      const entry = this.find(place, urn);
      if (entry && !entry.answered) this.write({ ...entry, answered: true });
    }
  }

  clear(place: Place, urn: string): void {
    const file = fileName(place, urn);
    if (!this.#forget(file)) return;
    try {
      rmSync(join(this.folder, file), { force: true });
    } catch (error) {
      this.#complain(
        "remove",
        `an entry of the journal of unfinished creates can't be removed: ${reason(error)}`,
      );
    }
  }

  /** The resources whose entries here carry this id. */
  resourcesOf({ baseUrl, tokenKind }: Place, id: string): string[] {
    this.#withId ??= new Map(
      this.entries()
        .filter((entry) => entry.id !== undefined)
        .map((entry) => [fileName(entry, entry.urn), entry]),
    );
    return [...this.#withId.values()]
      .filter((it) => it.id === id && it.baseUrl === baseUrl && it.tokenKind === tokenKind)
      .map((entry) => entry.urn);
  }

  /** Every entry that can be read, for the `discard` command. */
  entries(): JournalEntry[] {
    return [...this.#known()].flatMap((file) => {
      try {
        return [entrySchema.parse(JSON.parse(readFileSync(join(this.folder, file), "utf8")))];
      } catch {
        return [];
      }
    });
  }

  /** False where there was nothing of it. */
  #forget(file: string): boolean {
    this.#withId?.delete(file);
    return this.#known().delete(file);
  }

  #known(): Set<string> {
    if (!this.#files) {
      let names: string[] = [];
      try {
        names = readdirSync(this.folder).filter((name) => /^[0-9a-f]+\.json$/.test(name));
      } catch (error) {
        if (!isMissing(error)) {
          this.#complain(
            "read",
            `the journal of unfinished creates can't be read (${reason(error)}): if an earlier run was killed while it created an instance, this one does not know of it`,
          );
        }
      }
      this.#files = new Set(names);
    }
    return this.#files;
  }

  /** Of each matter once a process: the same fault would turn up at every resource. */
  #complain(matter: string, text: string): void {
    if (this.#complaints.has(matter)) return;
    this.#complaints.add(matter);
    this.warn(text);
  }
}

/** A file for each resource at each place, so that two runs at once never write the same one. */
function fileName({ baseUrl, tokenKind }: Place, urn: string): string {
  const key = [baseUrl, tokenKind, urn].join("\n");
  return `${createHash("sha256").update(key).digest("hex").slice(0, 32)}.json`;
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // It is only litter.
  }
}

/** Node's own way of making the parents calls a read-only file system a missing folder. */
function makeFolder(folder: string): void {
  try {
    make(folder);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    makeFolder(dirname(folder));
    make(folder);
  }
}

/** Another process may be making the same. */
function make(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** A file in place of the folder holds no entries either; the next write tells of it. */
function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

function reason(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.message ?? String(error);
}
