/**
 * The file with the records of one session, which the ledger reads and appends to. Each change of a record is
 * appended as a line of JSON. The last line of a record counts, but a line whose change is not allowed is ignored.
 */
import type { Disk } from "./disk";
import { isAllowedChange, recordSchema, type LedgerRecord } from "./record";

const newline = 0x0a;

/** A session's file, with the file's records as they were last read, and with changes that could not be written. */
export class SessionFile {
  readonly sessionId: string;
  readonly path: string;
  /** The records by key. */
  readonly records = new Map<string, LedgerRecord>();
  /** The number of lines that are not a readable record of this session. */
  damagedLines = 0;
  readonly #disk: Disk;
  /** The size of the file when it was last read. */
  #sizeBytes = 0;
  /** The size of the complete lines in the file when it was last read. */
  #readBytes = 0;

  constructor(sessionId: string, path: string, disk: Disk) {
    this.sessionId = sessionId;
    this.path = path;
    this.#disk = disk;
  }

  /**
   * Whether the file ends within a line. If so, a session is writing the line, or a write of the line was interrupted.
   */
  get endsWithinLine(): boolean {
    return this.#sizeBytes > this.#readBytes;
  }

  /**
   * Reads the lines that were appended. Returns false if the file does not exist.
   *
   * @throws the error of the system if the file can't be read
   */
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

  /**
   * Appends a line for each record.
   *
   * @throws the error of the system if that fails, for example because the file was removed
   */
  append(records: readonly LedgerRecord[]): void {
    this.refresh();
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join("");
    this.#disk.append(this.path, this.endsWithinLine ? `\n${lines}` : lines);
    this.refresh();
  }

  /** Changes a record in memory only. Does nothing if the change is not allowed. */
  apply(record: LedgerRecord): void {
    const current = this.records.get(record.key);
    if (isAllowedChange(current, record)) this.records.set(record.key, record);
  }

  #applyLine(line: string): void {
    try {
      const record = recordSchema.parse(JSON.parse(line));
      if (record.session !== this.sessionId) throw new Error("a record of another session");
      this.apply(record);
    } catch {
      this.damagedLines++;
    }
  }
}
