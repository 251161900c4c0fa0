/** What was asked: never a token, never a body. */
import type { TokenKind } from "../provider/api/contract";
import type { FaultKind } from "./faults/kinds";

export interface LoggedRequest {
  id: string;
  method: string;
  path: string;
  query: Record<string, string>;
  /** Milliseconds of the emulator's clock. */
  at: number;
  tokenKind: TokenKind | undefined;
  /** `name` in the body of a POST. */
  name: string | undefined;
  /** Undefined as long as nothing was answered. */
  status: number | undefined;
  /** False when a fault kept the service from doing what was asked. */
  acted: boolean;
  faults: FaultKind[];
}

/** Old entries go when a long-running emulator has this many; counts go on. */
const kept = 50_000;

export class RequestLog {
  private entries: LoggedRequest[] = [];
  private tally = new Map<string, number>();

  add(entry: LoggedRequest): LoggedRequest {
    if (this.entries.length >= kept) this.entries = this.entries.slice(kept / 2);
    this.entries.push(entry);
    const key = `${entry.method} ${entry.path}`;
    this.tally.set(key, (this.tally.get(key) ?? 0) + 1);
    return entry;
  }

  all(): readonly LoggedRequest[] {
    return this.entries;
  }

  /** By method and path, such as `POST /v2/instances`. */
  counts(): Record<string, number> {
    return Object.fromEntries(this.tally);
  }

  clear(): void {
    this.entries = [];
    this.tally = new Map();
  }
}

export function logLine(entry: LoggedRequest, at: number): string {
  const query = new URLSearchParams(entry.query).toString();
  const target = query === "" ? entry.path : `${entry.path}?${query}`;
  const faults = entry.faults.length > 0 ? ` fault=${entry.faults.join(",")}` : "";
  const name = entry.name === undefined ? "" : ` name=${JSON.stringify(entry.name)}`;
  const kind = entry.tokenKind ?? "none";
  const status = entry.status ?? "---";
  const time = new Date(at).toISOString();
  return `${time} ${entry.method} ${target} ${String(status)} token=${kind}${name} ${entry.id}${faults}`;
}
