/**
 * The records of one session. Each change of a record is appended to the session's file as a line of JSON.
 * The last line of a record counts, except a line that makes a change which is not allowed.
 */
import type { Disk } from "./disk";
import { isAllowedChange, recordSchema, type LedgerRecord } from "./record";

const newline = 0x0a;

/** A session's file, and its records as they were last read. */
export class SessionFile {
  readonly session: string;
  readonly path: string;
  /** By key. */
  readonly records = new Map<string, LedgerRecord>();
  /** How many lines could not be read. */
  damagedLines = 0;
  readonly #disk: Disk;
  /** The size of the file when it was last read. */
  #sizeBytes = 0;
  /** The size of its complete lines then. */
  #readBytes = 0;

  constructor(session: string, path: string, disk: Disk) {
    this.session = session;
    this.path = path;
    this.#disk = disk;
  }

  /** Whether the file ends within a line: its session is writing it, or died while it did. */
  get endsWithinLine(): boolean {
    return this.#sizeBytes > this.#readBytes;
  }

  /** Reads what was appended. False if the file does not exist. @throws where it can't be read */
  refresh(): boolean {
    const { size } = this.#disk.stat(this.path) ?? {};
    if (size === undefined) return false;
    if (size === this.#sizeBytes) return true;
    const bytes = this.#disk.read(this.path, this.#readBytes);
    const lines = bytes.subarray(0, bytes.lastIndexOf(newline) + 1);
    this.#sizeBytes = this.#readBytes + bytes.length;
    this.#readBytes += lines.length;
    for (const line of lines.toString().split("\n")) if (line !== "") this.#applyLine(line);
    return true;
  }

  /** Appends a line for each record. @throws where that fails, as where the file was removed */
  append(records: readonly LedgerRecord[]): void {
    this.refresh();
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join("");
    this.#disk.append(this.path, this.endsWithinLine ? `\n${lines}` : lines);
    this.refresh();
  }

  /** Sets a record without writing it, if the change is allowed. */
  apply(record: LedgerRecord): void {
    const current = this.records.get(record.key);
    if (isAllowedChange(current, record)) this.records.set(record.key, record);
  }

  #applyLine(line: string): void {
    try {
      const record = recordSchema.parse(JSON.parse(line));
      if (record.session !== this.session) throw new Error("a record of another session");
      this.apply(record);
    } catch {
      this.damagedLines++;
    }
  }
}
