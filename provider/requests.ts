/**
 * The engine's requests and the provider's responses, in the provider's own types. `rpc/` converts the engine's
 * messages to and from these types, so that the rest of the provider does not use gRPC and protobuf.
 */
import type { PropertyMap } from "./propertyValue";
import type { FunctionToken } from "./pulumiNames";

/**
 * Why an input, a setting or an argument is refused. `property` is empty if the reason is not about one property,
 * or if the engine would print the property's value, which may be secret (secrets stay secret: G8).
 */
export interface CheckFailure {
  property: string;
  reason: string;
}

/** The inputs that the engine uses from now on, and what is wrong with the inputs. */
export interface CheckResponse {
  inputs: PropertyMap;
  failures: CheckFailure[];
}

/**
 * Identifies the stack of a run by the id of the provider resource, which is the same in every run of a stack and
 * differs between stacks. In the first preview of a new stack, the kind is `unknown`.
 * Before Configure, the kind is `none`.
 */
export type Scope = { kind: "known"; id: string } | { kind: "unknown" } | { kind: "none" };

/** How the setting `pulumi:autonaming` lets the provider choose a name that the program leaves out. */
export type AutonamingMode = "propose" | "enforce" | "disable";

/** The old and new inputs of a resource. The old inputs are empty before a create. */
export interface CheckRequest {
  urn: string;
  olds: PropertyMap;
  news: PropertyMap;
  /** Random bytes from which a name is generated. */
  randomSeed: Uint8Array;
  /** The name that the engine proposes. Undefined if `pulumi:autonaming` is not set. */
  autonaming?: { proposedName: string; mode: AutonamingMode } | undefined;
}

/** An instance as the state records it. */
interface InstanceInState {
  urn: string;
  id: string;
  oldInputs: PropertyMap;
  oldOutputs: PropertyMap;
}

/** An instance in the state, with its new inputs. */
export interface DiffRequest extends InstanceInState {
  news: PropertyMap;
}

/** How an input or a setting changes, and whether the change replaces the resource. */
export type DiffKind =
  "add" | "add-replace" | "delete" | "delete-replace" | "update" | "update-replace";

/** The changes of a resource. */
export interface DiffResponse {
  /** The changes by the name of the input. It is empty if nothing changed. */
  detailed: Readonly<Record<string, DiffKind>>;
  /** The outputs, other than inputs, that the refresh of which this Diff is part has found changed. */
  drift?: readonly string[];
  deleteBeforeReplace: boolean;
}

/** An instance to create. */
export interface CreateRequest {
  urn: string;
  inputs: PropertyMap;
  /** The time-out from `customTimeouts`, or 0 if the program sets none. */
  timeoutSeconds: number;
  preview: boolean;
}

/** A created instance. In a preview, the id is empty. */
export interface CreateResponse {
  id: string;
  outputs: PropertyMap;
}

/** An instance to update: its inputs change without a replacement, or its create was left unfinished. */
export interface UpdateRequest extends DiffRequest {
  timeoutSeconds: number;
  preview: boolean;
}

/** An instance to read, for a refresh, an import or a `.get()`. */
export interface ReadRequest {
  urn: string;
  id: string;
  /** Inputs and outputs are undefined in an import, and empty in a `.get()`. */
  inputs: PropertyMap | undefined;
  outputs: PropertyMap | undefined;
  timeoutSeconds: number;
}

/** Whether the Read is part of a refresh. Only a refresh sends the outputs that the state holds. */
export function isRefresh(
  request: ReadRequest,
): request is ReadRequest & { outputs: PropertyMap; inputs: PropertyMap } {
  const { inputs, outputs } = request;
  return inputs !== undefined && outputs !== undefined && Object.keys(outputs).length > 0;
}

/** What the state is to hold, or `undefined` if it is proven that the instance is gone (G3). */
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
  /** The maximum number of instances of all pages together. A number below 1 means all. */
  limit: number;
  /** The maximum number of instances in the response. A number below 1 means all. */
  pageSize: number;
  /** The token from the response with the page before. Empty for the first page. */
  continuationToken: string;
}

/** The listed instances. `continuationToken` asks for the next page. It is undefined if there is none. */
export interface ListResponse {
  instances: ListedResource[];
  continuationToken: string | undefined;
}

/** One instance of a list. */
interface ListedResource {
  id: string;
  name: string;
}

/**
 * The provider, with one method for each call of the engine that needs the provider. A promise rejects with an error of
 * `provider/errors.ts`, or with any other error if the provider has a defect.
 */
export interface Provider {
  checkConfig(request: { news: PropertyMap }): Promise<CheckResponse>;
  /**
   * Takes the settings for all later calls. `urn` and `scope` identify the provider resource. Rejects if the
   * settings can't work, or if the process already serves another configuration. Sends no request to the service.
   */
  configure(request: { urn?: string | undefined; scope: Scope; args: PropertyMap }): Promise<void>;
  check(request: CheckRequest): Promise<CheckResponse>;
  diff(request: DiffRequest): Promise<DiffResponse>;
  create(request: CreateRequest): Promise<CreateResponse>;
  update(request: UpdateRequest): Promise<PropertyMap>;
  read(request: ReadRequest): Promise<ReadResponse>;
  delete(request: DeleteRequest): Promise<void>;
  invoke(request: InvokeRequest): Promise<InvokeResponse>;
  list(request: ListRequest): Promise<ListResponse>;
  /**
   * Ends all waits. The running calls then end with what is known so far, so that the engine can save it. Called
   * after Ctrl-C, at every normal shutdown, after a signal, and when the engine is gone. Never exits the process.
   *
   * @param isOrderly whether the engine has received every reply, and will save all results in the state
   * @param isEngineGone whether the engine has ended, so that replies reach nobody any more
   */
  cancel(isOrderly: boolean, isEngineGone?: boolean): void;
  /**
   * Called when an engine connects (Handshake, Attach). If an earlier engine has canceled, drops that engine's
   * configuration, so that its Cancel no longer counts.
   */
  renew(): void;
}
