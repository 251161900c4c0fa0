/**
 * A small record, in the Pulumi home, of creates whose outcome the state does not hold yet (G1): a
 * run that dies between POST and answer is not silent. A runner without a lasting disk has no journal;
 * nothing here may ever fail an operation, only warn.
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fingerprint } from "../fingerprint";
import { isSamePlace, type Place } from "../origin";
import { entrySchema, type JournalEntry } from "./entry";
import { isMissing, reason, writeWhole } from "./files";

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
      return this.#read(file);
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
    try {
      writeWhole(this.folder, file, JSON.stringify(entry, undefined, 2) + "\n");
      this.#known().add(file);
      if (entry.id === undefined) this.#withId?.delete(file);
      else this.#withId?.set(file, entry);
    } catch (error) {
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

  /** False where it can't be removed, which has been told. */
  clear(place: Place, urn: string): boolean {
    const file = fileName(place, urn);
    if (!this.#forget(file)) return true;
    try {
      rmSync(join(this.folder, file), { force: true });
      return true;
    } catch (error) {
      this.#complain(
        "remove",
        `an entry of the journal of unfinished creates can't be removed: ${reason(error)}`,
      );
      return false;
    }
  }

  /** The resources whose entries here carry this id. */
  resourcesOf(place: Place, id: string): string[] {
    this.#withId ??= new Map(
      this.entries()
        .filter((entry) => entry.id !== undefined)
        .map((entry) => [fileName(entry, entry.urn), entry]),
    );
    return [...this.#withId.values()]
      .filter((it) => it.id === id && isSamePlace(it, place))
      .map((entry) => entry.urn);
  }

  /** Every entry that can be read. */
  entries(): JournalEntry[] {
    return [...this.#known()].flatMap((file) => {
      try {
        return [this.#read(file)];
      } catch {
        return [];
      }
    });
  }

  #read(file: string): JournalEntry {
    return entrySchema.parse(JSON.parse(readFileSync(join(this.folder, file), "utf8")));
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
  return `${fingerprint(key, 32)}.json`;
}
