/** What `serve.ts`, a command or a test passes to the provider. */
import type { ComputeApi } from "./api/client";
import type { ClientOptions } from "./api/options";
import type { Clock } from "./clock";
import type { Dialer } from "./dialer";
import type { Disk } from "./ledger/disk";
import type { Redactor } from "./redaction";

/** What every operation of the provider may use. Tests pass their own parts. */
export interface ProviderContext {
  messages: Messages;
  redactor: Redactor;
  clock: Clock;
  env: NodeJS.ProcessEnv;
  /** Whether a person sees the Info column at a terminal. The default is a pipeline, where each status is a line of a log. */
  isAtTerminal?: boolean;
  /** Returns the address of the engine, or an empty string if it is not known. */
  engineAddress?: () => string;
  /** Resolves to whether the engine shows a message that it gets after its last reply. The default is that it does. */
  showsLastMessages?: () => Promise<boolean>;
  /** The storage of the ledger and of the folder of the run. The default is the file system. */
  disk?: Disk;
  /** The default is `createClient` of `api/client`, loaded when needed. */
  createApi?: (options: ClientOptions) => ComputeApi;
  /** For the ports that are awaited. The default is `tcpDialer`. */
  dialer?: Dialer;
  /** For the ids of sessions and for jitter. The default is `randomBytes` of `node:crypto`. */
  randomBytes?: (count: number) => Uint8Array;
}

/** A text, or its lines. Each is shown as one line, even if it contains a line break. */
export type Text = string | readonly string[];

/** Messages for the person who runs Pulumi. Secrets are removed before a message leaves the process (G8). */
export interface Messages {
  /** Shows `text` in the resource's Info column, until the next status. The engine does not keep it. */
  status(urn: string, text: string): void;
  /** Prints `text`, at the resource of `urn` if given. */
  info(text: Text, urn?: string): void;
  warning(text: Text, urn?: string): void;
  debug(text: string): void;
}
