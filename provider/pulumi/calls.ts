/** The engine's calls of the provider: their requests and responses. `rpc/` converts them from and to the engine's messages. */
import type { PropertyMap, Unknown } from "./propertyValue";
import type { DiffKind, FunctionToken } from "./names";

/** The inputs or settings that the engine uses from now on, and what is wrong with them. Each failure is a sentence of its own. */
export type CheckResponse = { inputs: PropertyMap; failures: string[] };

/** How `pulumi:autonaming` lets the provider choose a name that the program leaves out. */
export type AutonamingMode = "propose" | "enforce" | "disable";

/** The settings that the program gives. The URN is that of the provider resource. */
type CheckConfigRequest = { urn: string; news: PropertyMap };

/** The inputs of a resource. */
export interface CheckRequest {
  urn: string;
  /** Empty before a create. */
  olds: PropertyMap;
  news: PropertyMap;
  /** Random bytes for a name. */
  randomSeed: Uint8Array;
  /** Undefined if `pulumi:autonaming` is not set. */
  autonaming?: { proposedName: string; mode: AutonamingMode } | undefined;
}

/** The settings of a provider resource. */
export interface ConfigureRequest {
  /** The URN of the provider resource. */
  urn?: string | undefined;
  /** The id of the provider resource (`SessionOptions.scope`). It is not known in the first preview. */
  scope: string | undefined;
  args: PropertyMap;
}

interface InstanceInState {
  urn: string;
  id: string;
  oldInputs: PropertyMap;
  oldOutputs: PropertyMap;
}

/** An instance in the state, with its new inputs. */
export type DiffRequest = InstanceInState & { news: PropertyMap };

/** The changes of a resource. */
export interface DiffResponse {
  /** The changes by the name of the input. */
  detailed: Readonly<Record<string, DiffKind>>;
  /** The outputs that a refresh has found changed. The output `name` is the name at the service, not the program's. */
  drift?: readonly string[];
  /** Whether an Update is needed, even if no change is named. */
  needsUpdate?: boolean;
  deleteBeforeReplace: boolean;
}

/** An instance to create. */
export interface CreateRequest {
  urn: string;
  inputs: PropertyMap;
  /** From `customTimeouts`, or 0. The same holds for the other requests. */
  timeoutSeconds: number;
  preview: boolean;
}

/** A created instance. In a preview, the id is empty. */
export type CreateResponse = { id: string; outputs: PropertyMap };

/** The new outputs of an instance. */
export type UpdateResponse = { outputs: PropertyMap };

/** An instance whose inputs change without a replacement, or whose create was left unfinished. */
export type UpdateRequest = DiffRequest & { timeoutSeconds: number; preview: boolean };

/** An instance to read (`ReadOccasion`). What was not sent is empty. */
export interface ReadRequest {
  urn: string;
  id: string;
  inputs: PropertyMap;
  outputs: PropertyMap;
  timeoutSeconds: number;
}

/** What the state is to hold of an instance. */
export type ReadResponse = { id: string; inputs: PropertyMap; outputs: PropertyMap };

/** An instance to delete. */
export type DeleteRequest = InstanceInState & { timeoutSeconds: number };

/** A program's call of a function. */
export type InvokeRequest = { token: FunctionToken; args: PropertyMap };

/** What a function returns. */
export type InvokeResponse = { outputs: PropertyMap };

/** Which instances to list. */
export interface ListRequest {
  query: PropertyMap;
  /** The maximum number of instances. A number below 1 means all. */
  limit: number;
}

/** An instance of the list. */
export type ListedInstance = { id: string; name: string };

/** The listed instances, or that they are not known yet, because a part of the query is not. */
export type ListResponse = ListedInstance[] | Unknown;

/** A reply that the engine keeps in the state of an instance. */
export type StateReply<Response> = Response & {
  /** Whether the engine reads the instance before it next compares the program with the state. */
  refreshBeforeUpdate: boolean;
};

/**
 * Why the waits end. Several reasons may come one after the other.
 *
 * - `interrupted`: by Ctrl-C or a signal. Replies may still reach the engine.
 * - `finished`: the engine has received every reply, and is expected to save them. (A hook of the program may still be running.)
 * - `engineGone`: the engine has ended, so that replies reach nobody any more.
 */
export type CancelReason = "interrupted" | "finished" | "engineGone";

/** The calls of the engine that need the provider. A rejection with an error that is not in `errors.ts` is a defect. */
export interface Provider {
  checkConfig(request: CheckConfigRequest): Promise<CheckResponse>;
  /**
   * Takes the settings for all later calls, and sends no request. Rejects if the settings can't work, or if the process
   * already serves another configuration.
   */
  configure(request: ConfigureRequest): Promise<void>;
  check(request: CheckRequest): Promise<CheckResponse>;
  diff(request: DiffRequest): Promise<DiffResponse>;
  create(request: CreateRequest): Promise<StateReply<CreateResponse>>;
  update(request: UpdateRequest): Promise<StateReply<UpdateResponse>>;
  read(request: ReadRequest): Promise<StateReply<ReadResponse> | undefined>;
  delete(request: DeleteRequest): Promise<void>;
  invoke(request: InvokeRequest): Promise<InvokeResponse>;
  list(request: ListRequest): Promise<ListResponse>;
  /**
   * Ends all waits, so that the running calls end with what is known so far. Called after Ctrl-C or a signal, at every
   * normal shutdown, and when the engine is gone. Never exits the process.
   */
  cancel(reason: CancelReason): void;
  /**
   * Called when an engine begins a run. Ends the run before as one whose engine is gone, unless it was canceled, and drops its
   * configuration.
   */
  renew(): void;
}
