/** What a process gives the provider to work with: where its words go, the clock, the environment. */
import type { ClientOptions, ComputeApi } from "./api/client";
import type { Clock } from "./clock";
import type { Disk } from "./ledger/disk";
import type { Redactor } from "./redaction";

export interface ProviderContext {
  messages: Messages;
  redactor: Redactor;
  clock: Clock;
  env: NodeJS.ProcessEnv;
  /** Where the ledger lies; left out, the system's. */
  disk?: Disk;
  /** Makes the client of the service; left out, the one in `api/createClient`, loaded when needed. */
  createApi?: (options: ClientOptions) => ComputeApi;
  /** For the ids of sessions and for jitter; left out, those of `node:crypto`. */
  randomBytes?: (count: number) => Uint8Array;
}

/** Where the provider's words to the person go; each text is cleaned and redacted on its way (G8). */
export interface Messages {
  /** Replaces the resource's text in the Info column; not kept. */
  status(urn: string, text: string): void;
  info(text: string, urn?: string): void;
  warning(text: string, urn?: string): void;
  debug(text: string): void;
}
