/** Defines what `main.ts`, a command or a test passes to the provider, such as the clock and the environment. */
import type { ClientOptions, ComputeApi } from "./api/client";
import type { Clock } from "./clock";
import type { Disk } from "./ledger/disk";
import type { Redactor } from "./redaction";

/** What every operation of the provider may use. Tests replace each part with their own. */
export interface ProviderContext {
  messages: Messages;
  redactor: Redactor;
  clock: Clock;
  env: NodeJS.ProcessEnv;
  /** The storage of the ledger. The default is the file system. */
  disk?: Disk;
  /** Makes the client of the service. The default is `createClient` of `api/createClient`, loaded when needed. */
  createApi?: (options: ClientOptions) => ComputeApi;
  /** Returns random bytes for the ids of sessions and for jitter. The default is `randomBytes` of `node:crypto`. */
  randomBytes?: (count: number) => Uint8Array;
}

/** Messages for the person who runs Pulumi. Secrets are removed from each before it leaves the process (G8). */
export interface Messages {
  /** Shows `text` in the resource's Info column, until the next status. The engine does not keep the text. */
  status(urn: string, text: string): void;
  /** Prints `text` as a diagnostic message, at the resource of `urn` if there is one. The same holds for a warning. */
  info(text: string, urn?: string): void;
  warning(text: string, urn?: string): void;
  debug(text: string): void;
}
