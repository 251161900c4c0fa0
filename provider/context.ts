/** What a process gives the provider to work with. */
import type { ClientOptions, ComputeApi } from "./api/client";
import type { Clock } from "./clock";
import type { Disk } from "./ledger/disk";
import type { Redactor } from "./redaction";

/** What every operation of the provider may use; tests put their own in place of each. */
export interface ProviderContext {
  messages: Messages;
  redactor: Redactor;
  clock: Clock;
  env: NodeJS.ProcessEnv;
  /** Where the ledger lies. Default: the file system. */
  disk?: Disk;
  /** Makes the client of the service. Default: the one in `api/createClient`, loaded when needed. */
  createApi?: (options: ClientOptions) => ComputeApi;
  /** For the ids of sessions and for jitter. Default: that of `node:crypto`. */
  randomBytes?: (count: number) => Uint8Array;
}

/** Messages for the person who runs Pulumi. Each text is redacted on its way (G8). */
export interface Messages {
  /** Replaces the resource's text in the Info column; not kept. */
  status(urn: string, text: string): void;
  info(text: string, urn?: string): void;
  warning(text: string, urn?: string): void;
  debug(text: string): void;
}
