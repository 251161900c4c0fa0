/** The file with the records of one session: a line of JSON for each change of a record. The last allowed line counts. */
import { join } from "node:path";
import type { Disk } from "./disk";
import { isAllowedChange, recordSchema, type LedgerRecord } from "./record";

const newline = 0x0a;

/** Returns the path of the file with a session's records. */
export function sessionFilePath(folder: string, sessionId: string): string {
  return join(folder, `${sessionId}.jsonl`);
}

/** A session's file, with its records as they were last read, and with changes that could not be written. */
export class SessionFile {
  readonly sessionId: string;
  readonly path: string;
  /** The records by key. */
  readonly records = new Map<string, LedgerRecord>();
  /** Whether a line is not a readable record of this session. */
  isDamaged = false;
  /** Whether the last line is incomplete: it is being written, or its write was interrupted. */
  endsWithinLine = false;
  readonly #disk: Disk;
  /** The size of the complete lines that were read. */
  #readBytes = 0;

  constructor(sessionId: string, folder: string, disk: Disk) {
    this.sessionId = sessionId;
    this.path = sessionFilePath(folder, sessionId);
    this.#disk = disk;
  }

  /**
   * Reads the lines that were appended. Returns false if the file does not exist.
   *
   * @throws the error of the system if the file can't be read
   */
  refresh(): boolean {
    const stat = this.#disk.stat(this.path);
    if (stat === undefined) return false;
    if (stat.size === this.#readBytes) return true;
    const bytes = this.#disk.read(this.path, this.#readBytes);
    const lines = bytes.subarray(0, bytes.lastIndexOf(newline) + 1);
    this.#readBytes += lines.length;
    this.endsWithinLine = lines.length < bytes.length;
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

  /** Changes a record in memory only, if the change is allowed. */
  apply(record: LedgerRecord): void {
    if (isAllowedChange(this.records.get(record.key), record)) {
      this.records.set(record.key, record);
    }
  }

  #applyLine(line: string): void {
    try {
      const record = recordSchema.parse(JSON.parse(line));
      if (record.session !== this.sessionId) throw new Error("a record of another session");
      this.apply(record);
    } catch {
      this.isDamaged = true;
    }
  }
}
