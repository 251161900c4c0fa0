/**
 * What the engine asks and what the provider answers, in the provider's own types. `rpc/` turns the
 * engine's messages into these and back; the rest of the provider is free of gRPC and protobuf.
 */
import type { PropertyMap } from "./propertyValue";
import type { FunctionToken } from "./pulumiNames";

/** Why one property is refused. `property` is empty where naming it would print a secret (G9). */
export interface CheckFailure {
  property: string;
  reason: string;
}

/** The inputs as the engine is to use them, and what is wrong with them. */
export interface CheckResponse {
  inputs: PropertyMap;
  failures: CheckFailure[];
}

/**
 * Whose run this is: the id of the provider resource itself, which is the same in every run of a stack
 * and another in each stack. Unknown in the first preview of a new stack; none before Configure.
 */
export type Scope = { kind: "known"; id: string } | { kind: "unknown" } | { kind: "none" };

/** What `pulumi:autonaming` asks of the provider for a resource whose program gives no name. */
export type AutonamingMode = "propose" | "enforce" | "disable";

/** The old and new inputs of a resource; the old ones are empty before a create. */
export interface CheckRequest {
  urn: string;
  olds: PropertyMap;
  news: PropertyMap;
  randomSeed: Uint8Array;
  autonaming?: { proposedName: string; mode: AutonamingMode } | undefined;
}

/** An instance as the state has it. */
interface InstanceInState {
  urn: string;
  id: string;
  oldInputs: PropertyMap;
  oldOutputs: PropertyMap;
}

/** An instance in the state, and its new inputs. */
export interface DiffRequest extends InstanceInState {
  news: PropertyMap;
}

/** How an input changes, and whether the change replaces the instance. */
export type DiffKind =
  "add" | "add-replace" | "delete" | "delete-replace" | "update" | "update-replace";

/** The changes of a resource. */
export interface DiffResponse {
  /** By the name of the input; empty where nothing changed. */
  detailed: Readonly<Record<string, DiffKind>>;
  deleteBeforeReplace: boolean;
}

/** An instance to create. */
export interface CreateRequest {
  urn: string;
  inputs: PropertyMap;
  /** From `customTimeouts`; 0 where none is given. */
  timeoutSeconds: number;
  preview: boolean;
}

/** A created instance. In a preview the id is empty. */
export interface CreateResponse {
  id: string;
  outputs: PropertyMap;
}

/** An instance whose inputs change without a replacement, or that was left unfinished. */
export interface UpdateRequest extends DiffRequest {
  timeoutSeconds: number;
  preview: boolean;
}

/** An instance to look for. */
export interface ReadRequest {
  urn: string;
  id: string;
  /** Inputs and outputs are absent in an import, and empty in a `.get()`. */
  inputs: PropertyMap | undefined;
  outputs: PropertyMap | undefined;
  timeoutSeconds: number;
}

/** Whether the Read is of a refresh: only then does the state hold the instance. */
export function isRefresh(
  request: ReadRequest,
): request is ReadRequest & { outputs: PropertyMap; inputs: PropertyMap } {
  const { inputs, outputs } = request;
  return inputs !== undefined && outputs !== undefined && Object.keys(outputs).length > 0;
}

/** What was found; `undefined` where the instance is proven gone (G3). */
export type ReadResponse = { id: string; inputs: PropertyMap; outputs: PropertyMap } | undefined;

/** An instance to delete. */
export interface DeleteRequest extends InstanceInState {
  timeoutSeconds: number;
}

/** A function call of a program. */
export interface InvokeRequest {
  token: FunctionToken;
  args: PropertyMap;
}

/** What a function returns, or what is wrong with its arguments. */
export interface InvokeResponse {
  outputs: PropertyMap;
  failures: CheckFailure[];
}

/** Which instances to list. */
export interface ListRequest {
  query: PropertyMap;
  /** How many at most; below 1: all. */
  limit: number;
}

/** One instance of a list. */
export interface ListedResource {
  id: string;
  name: string;
}

/** The provider. Every method may reject with the errors of `provider/errors.ts`. */
export interface Provider {
  checkConfig(request: { news: PropertyMap }): Promise<CheckResponse>;
  /**
   * `urn` and `scope` are of the provider resource. Rejects only for settings that can't work; makes no
   * request to the service.
   */
  configure(request: { urn?: string | undefined; scope: Scope; args: PropertyMap }): Promise<void>;
  check(request: CheckRequest): Promise<CheckResponse>;
  diff(request: DiffRequest): Promise<DiffResponse>;
  create(request: CreateRequest): Promise<CreateResponse>;
  update(request: UpdateRequest): Promise<PropertyMap>;
  read(request: ReadRequest): Promise<ReadResponse>;
  delete(request: DeleteRequest): Promise<void>;
  invoke(request: InvokeRequest): Promise<InvokeResponse>;
  list(request: ListRequest): Promise<ListedResource[]>;
  /**
   * Ctrl-C, and every normal shutdown: ends waits with the state kept. Never exits. `isOrderly`: the engine
   * has every answer, and will save it. `isEngineGone`: answers reach nobody any more.
   */
  cancel(isOrderly: boolean, isEngineGone?: boolean): void;
  /** A new engine has come (Handshake, Attach): a Cancel of the one before no longer counts. */
  renew(): void;
}
