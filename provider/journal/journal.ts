/**
 * A small record, in the Pulumi home, of creates whose outcome the state does not hold yet (G1): a
 * run that dies between POST and answer is not silent. It holds no secrets. A runner without a
 * lasting disk has no journal; nothing here may ever fail an operation, only warn.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { originSchema, type Origin } from "../origin";

const entrySchema = z.object({
  ...originSchema.shape,
  urn: z.string(),
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
  /** Files that were there at first look, or that this process wrote; the rest need no look. */
  #files: Set<string> | undefined;
  /** Of those, the ones that have an id; loaded when first asked for. */
  #byId: Map<string, JournalEntry[]> | undefined;
  #warned = false;

  constructor(
    private readonly folder: string,
    private readonly warn: (text: string) => void,
  ) {}

  /** The entry left open for this resource, if any. */
  find(place: Place, urn: string): JournalEntry | undefined {
    const file = fileName(place, urn);
    if (!this.#known().has(file)) return undefined;
    try {
      return entrySchema.parse(JSON.parse(readFileSync(join(this.folder, file), "utf8")));
    } catch (error) {
      if (isMissing(error)) this.#known().delete(file);
      else {
        this.#complain(
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
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      writeFileSync(temporary, JSON.stringify(entry, undefined, 2) + "\n", { mode: 0o600 });
      renameSync(temporary, join(this.folder, file));
      this.#known().add(file);
      if (this.#byId) addTo(this.#byId, entry);
    } catch (error) {
      remove(temporary);
      this.#complain(
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
    if (!this.#known().delete(file)) return;
    try {
      rmSync(join(this.folder, file), { force: true });
    } catch (error) {
      this.#complain(
        `an entry of the journal of unfinished creates can't be removed: ${reason(error)}`,
      );
    }
  }

  /** The resources whose entries here carry this id. */
  resourcesOf({ baseUrl, tokenKind }: Place, id: string): string[] {
    if (!this.#byId) {
      this.#byId = new Map();
      for (const entry of this.entries()) addTo(this.#byId, entry);
    }
    return (this.#byId.get(id) ?? [])
      .filter((entry) => entry.baseUrl === baseUrl && entry.tokenKind === tokenKind)
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

  #known(): Set<string> {
    if (!this.#files) {
      let names: string[] = [];
      try {
        names = readdirSync(this.folder).filter((name) => /^[0-9a-f]+\.json$/.test(name));
      } catch (error) {
        if (!isMissing(error)) {
          this.#complain(`the journal of unfinished creates can't be read: ${reason(error)}`);
        }
      }
      this.#files = new Set(names);
    }
    return this.#files;
  }

  /** Once a process: the same fault would turn up at every resource. */
  #complain(text: string): void {
    if (this.#warned) return;
    this.#warned = true;
    this.warn(text);
  }
}

/** A file for each resource at each place, so that two runs at once never write the same one. */
function fileName({ baseUrl, tokenKind }: Place, urn: string): string {
  const key = [baseUrl, tokenKind, urn].join("\n");
  return `${createHash("sha256").update(key).digest("hex").slice(0, 32)}.json`;
}

function addTo(byId: Map<string, JournalEntry[]>, entry: JournalEntry): void {
  if (entry.id !== undefined) byId.set(entry.id, [...(byId.get(entry.id) ?? []), entry]);
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // It is only litter.
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
}

function reason(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.message ?? String(error);
}
