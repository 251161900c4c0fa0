/**
 * The records of one session: a file to which each change of a record is appended, as a line of JSON.
 * The last line of a record is what holds, but for what can't come after the one before (`isAllowedChange`).
 */
import type { Disk, OpenFile } from "./disk";
import { isAllowedChange, recordSchema, type LedgerRecord } from "./record";

const newline = 0x0a;

export class SessionFile {
  readonly records = new Map<string, LedgerRecord>();
  /** How many lines could not be read. */
  damaged = 0;
  /** Of bytes: the file, when it was last looked at, and its whole lines, which have been read. */
  #size = 0;
  #read = 0;

  constructor(
    readonly session: string,
    readonly path: string,
    private readonly disk: Disk,
    /** Set where it is this session's own: open for reading and appending, and kept so. */
    private readonly file?: OpenFile,
  ) {}

  /** Whether it ends within a line: its session was writing it, or died as it did. */
  get isCut(): boolean {
    return this.#size > this.#read;
  }

  /** Reads what was appended since; false where the file is not there any more. @throws */
  refresh(): boolean {
    const { size } = this.disk.stat(this.path) ?? {};
    if (size === undefined) return false;
    if (size === this.#size) return true;
    const file = this.disk.open(this.path, false);
    try {
      this.#readFrom(file);
    } finally {
      file.close();
    }
    return true;
  }

  /** Appends to the file as it stands; one that was removed does not come back. @throws */
  append(records: readonly LedgerRecord[]): void {
    if (this.file !== undefined) return this.#appendTo(this.file, records);
    const file = this.disk.open(this.path, true);
    try {
      this.#appendTo(file, records);
    } finally {
      file.close();
    }
  }

  #appendTo(file: OpenFile, records: readonly LedgerRecord[]): void {
    if (file.size() !== this.#read) this.#readFrom(file);
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join("");
    const end = this.#read + Buffer.byteLength(lines);
    file.append(this.isCut ? `\n${lines}` : lines);
    const size = file.size();
    // Else something is before these lines, or another process has appended as well.
    if (size !== end) return this.#readFrom(file);
    this.#size = this.#read = size;
    for (const record of records) this.#apply(record);
  }

  #readFrom(file: OpenFile): void {
    if (file.size() < this.#read) this.#read = 0;
    const bytes = file.read(this.#read);
    const whole = bytes.subarray(0, bytes.lastIndexOf(newline) + 1);
    this.#size = this.#read + bytes.length;
    this.#read += whole.length;
    for (const line of whole.toString().split("\n")) {
      if (line !== "") this.#applyLine(line);
    }
  }

  #applyLine(line: string): void {
    try {
      const record = recordSchema.parse(JSON.parse(line));
      if (record.session !== this.session) throw new Error("a record of another file");
      this.#apply(record);
    } catch {
      this.damaged++;
    }
  }

  #apply(record: LedgerRecord): void {
    if (isAllowedChange(this.records.get(record.key), record)) this.records.set(record.key, record);
  }
}
