/**
 * What the engine asks and what the provider answers, in the provider's own types. `rpc/` turns the
 * engine's messages into these and back; everything behind it is free of gRPC and protobuf.
 */
import type { PropertyMap } from "./propertyValue";

/** Why one property is refused. An empty `property` when naming it would print a secret (G9). */
export interface CheckFailure {
  property: string;
  reason: string;
}

export interface CheckConfigRequest {
  news: PropertyMap;
}
export interface CheckResponse {
  inputs: PropertyMap;
  failures: CheckFailure[];
}

/**
 * Whose run this is: the id of the provider resource itself, the same in every run of a stack and
 * another in every other stack. Unknown in a new stack's first preview; none before Configure.
 */
export type Scope = { kind: "known"; id: string } | { kind: "unknown" } | { kind: "none" };

export interface ConfigureRequest {
  /** The provider resource this configures. */
  urn?: string | undefined;
  scope: Scope;
  args: PropertyMap;
}

export type AutonamingMode = "propose" | "enforce" | "disable";

export interface CheckRequest {
  urn: string;
  olds: PropertyMap;
  news: PropertyMap;
  randomSeed: Uint8Array;
  autonaming?: { proposedName: string; mode: AutonamingMode } | undefined;
}

export interface DiffRequest {
  urn: string;
  id: string;
  oldInputs: PropertyMap;
  oldOutputs: PropertyMap;
  news: PropertyMap;
}

export type DiffKind =
  "add" | "add-replace" | "delete" | "delete-replace" | "update" | "update-replace";

export interface DiffResponse {
  /** By input property name; empty: nothing changed. */
  detailed: Readonly<Record<string, DiffKind>>;
  deleteBeforeReplace: boolean;
}

export interface CreateRequest {
  urn: string;
  inputs: PropertyMap;
  /** Seconds, from `customTimeouts`; 0: none given. */
  timeoutSeconds: number;
  preview: boolean;
}
export interface CreateResponse {
  id: string;
  outputs: PropertyMap;
}

export interface UpdateRequest extends DiffRequest {
  timeoutSeconds: number;
  preview: boolean;
}

export interface ReadRequest {
  urn: string;
  id: string;
  /** Absent in an import, empty in a `.get()`. */
  inputs: PropertyMap | undefined;
  outputs: PropertyMap | undefined;
  timeoutSeconds: number;
}
/** `pulumi refresh` has a state to go by; an import has none, and a `.get()` an empty one. */
export function isRefresh(
  request: ReadRequest,
): request is ReadRequest & { outputs: PropertyMap; inputs: PropertyMap } {
  const { inputs, outputs } = request;
  return inputs !== undefined && outputs !== undefined && Object.keys(outputs).length > 0;
}

/** `undefined`: proven gone (G3). */
export type ReadResponse = { id: string; inputs: PropertyMap; outputs: PropertyMap } | undefined;

export interface DeleteRequest {
  urn: string;
  id: string;
  oldInputs: PropertyMap;
  oldOutputs: PropertyMap;
  timeoutSeconds: number;
}

export interface InvokeRequest {
  token: string;
  args: PropertyMap;
}
export interface InvokeResponse {
  outputs: PropertyMap;
  failures: CheckFailure[];
}

export interface ListRequest {
  query: PropertyMap;
  /** Fewer than 1: all. */
  limit: number;
}
export interface ListedResource {
  id: string;
  name: string;
}

/** The provider behind the wire. Every method may reject with the errors of `provider/errors.ts`. */
export interface Provider {
  checkConfig(request: CheckConfigRequest): Promise<CheckResponse>;
  /** Rejects only for settings that can't work; makes no request to the service. */
  configure(request: ConfigureRequest): Promise<void>;
  check(request: CheckRequest): Promise<CheckResponse>;
  diff(request: DiffRequest): Promise<DiffResponse>;
  create(request: CreateRequest): Promise<CreateResponse>;
  update(request: UpdateRequest): Promise<PropertyMap>;
  read(request: ReadRequest): Promise<ReadResponse>;
  delete(request: DeleteRequest): Promise<void>;
  invoke(request: InvokeRequest): Promise<InvokeResponse>;
  list(request: ListRequest): Promise<ListedResource[]>;
  /**
   * Ctrl-C, and every normal shutdown: ends waits with the state kept. Never exits. `idle`: every call
   * has been answered. `engineGone`: answers reach nobody any more.
   */
  cancel(idle: boolean, engineGone?: boolean): void;
  /** A new engine has come (Handshake, Attach): a Cancel of the one before no longer counts. */
  renew(): void;
}
