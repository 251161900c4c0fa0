/** The log of requests, for tests and for `--log`. It never contains a token or a body. */
import type { TokenKind } from "../provider/api/serviceConstants";

/** One request, as `control.requests()` shows it. */
export interface LoggedRequest {
  id: string;
  method: string;
  path: string;
  query: Record<string, string>;
  /** When the request arrived, in milliseconds of the emulator's clock. */
  at: number;
  tokenKind: TokenKind | undefined;
  /** The `name` in the body of a POST. */
  name: string | undefined;
  /** The status of the response. Undefined until one is sent. */
  status: number | undefined;
  /** Whether the service has acted on the request, or refused it. A fault can prevent both. */
  acted: boolean;
  /** The label of each fault that applies, or its kind if it has no label. */
  faults: string[];
}

/** At this number of entries, the older half is dropped. */
const maxEntries = 50_000;

/** The latest requests, and the count of all of them. */
export class RequestLog {
  #entries: LoggedRequest[] = [];
  #counts = new Map<string, number>();

  add(entry: LoggedRequest): void {
    if (this.#entries.length >= maxEntries) this.#entries = this.#entries.slice(maxEntries / 2);
    this.#entries.push(entry);
    const endpoint = `${entry.method} ${entry.path}`;
    this.#counts.set(endpoint, (this.#counts.get(endpoint) ?? 0) + 1);
  }

  all(): readonly LoggedRequest[] {
    return this.#entries;
  }

  /** The number of requests by method and path, such as `POST /v2/instances`. */
  counts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }

  clear(): void {
    this.#entries = [];
    this.#counts = new Map();
  }
}

/** Returns the line that `--log` prints for a request. `nowMs` is when the response was sent or kept back. */
export function formatLogLine(entry: LoggedRequest, nowMs: number): string {
  const query = new URLSearchParams(entry.query).toString();
  const target = query === "" ? entry.path : `${entry.path}?${query}`;
  const faults = entry.faults.length > 0 ? ` fault=${entry.faults.join(",")}` : "";
  const name = entry.name === undefined ? "" : ` name=${JSON.stringify(entry.name)}`;
  const time = new Date(nowMs).toISOString();
  const status = entry.status ?? "---";
  const token = entry.tokenKind ?? "none";
  return `${time} ${entry.method} ${target} ${status} token=${token}${name} ${entry.id}${faults}`;
}
