/** The endpoints of the service's document, and DELETE as an extension. Quoted phrases are from that document. */
import { createBody, type CreateBody } from "../provider/api/contract";
import {
  instanceStatuses,
  pageLimit,
  paths,
  type InstanceStatus,
} from "../provider/api/serviceConstants";
import type { InstanceFault } from "./faults/kinds";
import { decodeSegment, maxBodyBytes, type ServiceRequest } from "./http/request";
import {
  acceptedSchema,
  invalidParameter,
  listSchema,
  ServiceError,
  type AcceptedBody,
  type ServiceResponse,
} from "./http/response";
import type { InstanceRecord, InstanceStore, NewInstance } from "./instances/store";
import type { AccountBody, Settings } from "./options";
import { matchesPattern } from "./pattern";
import type { RateLimiter } from "./rateLimit";
import type { Caller, Owner, Scope, TokenRegistry } from "./tokens";

/** What the endpoints read and change. `account` is the body of GET /v2/account, undefined for the default. */
export interface ServiceState {
  settings: Settings;
  store: InstanceStore;
  tokens: TokenRegistry;
  rateLimiter: RateLimiter;
  account: AccountBody | undefined;
}

interface Call {
  state: ServiceState;
  caller: Caller;
  request: ServiceRequest;
  faults: readonly InstanceFault[];
  /** What the path has for `{id}`. */
  id: string;
}

interface Endpoint {
  method: string;
  path: string;
  scope: Scope;
  handle: (call: Call) => ServiceResponse;
}

const documentedEndpoints: readonly Endpoint[] = [
  { method: "GET", path: paths.account, scope: "account", handle: getAccount },
  { method: "GET", path: paths.instances, scope: "list", handle: listInstances },
  { method: "POST", path: paths.instances, scope: "create", handle: createInstance },
];

/**
 * Calls the endpoint of a request, after checks in this order: token (401), rate limit (429), path (404), method (405),
 * scope (403), parameters (400).
 * @throws {ServiceError} if a check fails
 */
export function callEndpoint(
  state: ServiceState,
  request: ServiceRequest,
  faults: readonly InstanceFault[],
): ServiceResponse {
  const { destroyPath, rateScope } = state.settings;
  const endpoints = [...documentedEndpoints];
  if (destroyPath !== undefined)
    endpoints.push({
      method: "DELETE",
      path: destroyPath,
      scope: "destroy",
      handle: destroyInstance,
    });
  const { method } = request;
  const caller = state.tokens.authenticate(request.authorization);
  const matches = endpoints.flatMap((endpoint) => {
    const id = matchPath(endpoint.path, request.path);
    return id === undefined ? [] : [{ endpoint, id }];
  });
  const path = matches[0]?.endpoint.path ?? "unknown";
  if (!state.rateLimiter.admit(rateScope === "path" ? path : `${method} ${path}`, caller.token))
    throw new ServiceError(429, "rate_limit_exceeded", "The rate limit has been exceeded.");
  if (matches.length === 0) throw notFound(`There is nothing at ${request.path}.`);
  const match = matches.find(({ endpoint }) => endpoint.method === method);
  if (match === undefined) {
    const allowed = matches.map(({ endpoint }) => endpoint.method).join(", ");
    const message = `${method} is not possible on ${request.path}.`;
    throw new ServiceError(405, "method_not_allowed", message, { Allow: allowed });
  }
  const { endpoint, id } = match;
  if (!caller.scopes.includes(endpoint.scope)) {
    const message = `The token lacks the privilege "${endpoint.scope}" for this action.`;
    throw new ServiceError(403, "missing_scope", message);
  }
  return endpoint.handle({ state, caller, request, faults, id });
}

/** Returns the `{id}` in a path ("" if the pattern has none), or undefined if the path does not match. */
function matchPath(pattern: string, path: string): string | undefined {
  const [before = "", after] = pattern.split("{id}");
  if (after === undefined) return pattern === path ? "" : undefined;
  if (!path.startsWith(before) || !path.endsWith(after)) return undefined;
  const segment = path.slice(before.length, path.length - after.length);
  return segment === "" || segment.includes("/") ? undefined : decodeSegment(segment);
}

/** "Response: not shown", so the default body is invented: an id and a name, as most services send. */
function getAccount({ state: { account }, caller: { owner } }: Call): ServiceResponse {
  const defaultBody = { json: { id: `acct_${owner.tenant}`, name: owner.tenant } };
  return { status: 200, ...(account ?? defaultBody) };
}

/** @throws {ServiceError} for a wrong parameter */
function listInstances({ state, caller, request: { query } }: Call): ServiceResponse {
  const { listOrder, cursorParameter, refuseUnknownParameters, addressSeconds } = state.settings;
  const known = ["limit", "status", cursorParameter];
  const unknown = [...query.keys()].find((name) => !known.includes(name));
  if (refuseUnknownParameters && unknown !== undefined)
    throw invalidParameter(`Unknown parameter: ${unknown}.`);
  const limit = parseLimit(query);
  const cursor = (cursorParameter && query.get(cursorParameter)) ?? undefined;
  const isNumber = cursorParameter === "page" || cursorParameter === "offset";
  const page = state.store.page({
    owner: caller.owner,
    order: listOrder,
    hasCursor: cursorParameter !== undefined,
    limit,
    status: parseStatus(query),
    after: isNumber ? undefined : cursor,
    skip: isNumber && cursor !== undefined ? skipOf(cursorParameter, cursor, limit) : 0,
  });
  if (page === undefined)
    throw invalidParameter(`Invalid parameter: ${cursorParameter ?? ""} is not an instance.`);
  const { instances: data } = page;
  const json = { object: "list", data, has_more: page.hasMore };
  // Only an option, a fault or a test can cause an undocumented status, or no address, and it breaks the schema on purpose.
  return addressSeconds === 0 && data.every(({ status }) => isDocumentedStatus(status))
    ? { status: 200, json, schema: listSchema }
    : { status: 200, json };
}

/**
 * Returns how many instances come before the page that a number names.
 * @throws {ServiceError} for anything but a number
 */
function skipOf(parameter: "page" | "offset", value: string, limit: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : NaN;
  const skip = parameter === "page" ? (number - 1) * limit : number;
  if (skip >= 0) return skip;
  throw invalidParameter(`Invalid parameter: ${parameter} must be a whole number.`);
}

function parseLimit(query: URLSearchParams): number {
  const { min, max } = pageLimit;
  const parameter = query.get("limit");
  if (parameter === null) return pageLimit.default;
  const limit = /^\d{1,9}$/.test(parameter) ? Number(parameter) : NaN;
  if (limit >= min && limit <= max) return limit;
  const range = `from ${min} to ${max}`;
  throw invalidParameter(`Invalid parameter: limit must be an integer ${range}.`);
}

function parseStatus(query: URLSearchParams): InstanceStatus | undefined {
  const status = query.get("status");
  if (status === null) return undefined;
  if (isDocumentedStatus(status)) return status;
  const allowed = instanceStatuses.join(", ");
  throw invalidParameter(`Invalid parameter: status must be one of ${allowed}.`);
}

function isDocumentedStatus(status: string): status is InstanceStatus {
  return (instanceStatuses as readonly string[]).includes(status);
}

/**
 * The faults override the settings for the new instance. Of two faults of one kind, the later one wins.
 * @throws {ServiceError} for a wrong body, or a name that is taken
 */
function createInstance({ state, caller: { owner }, request, faults }: Call): ServiceResponse {
  const { settings, store } = state;
  const body = parseCreateBody(request);
  const wrong = faults.findLast((fault) => fault.kind === "existingId");
  const existing = wrong && findExisting(state, owner, wrong);
  if (existing && !wrong.acted) return { ...accepted(settings, existing), acted: false };
  const now = settings.clock.now();
  const { endStatus, nameSuffix, listingSeconds, uniqueNames } = settings;
  const name = body.name + nameSuffix;
  if (uniqueNames && store.hasName(name, owner))
    throw new ServiceError(409, "name_taken", `The name ${name} is taken.`);
  const isStuck = faults.some(({ kind }) => kind === "neverLeavesProvisioning");
  const instance: NewInstance = {
    owner,
    name,
    request: body,
    goneAt: endOfLifetime(settings, owner),
    readyAt: isStuck ? null : now + provisioningSeconds(settings, name) * 1000,
    endStatus: typeof endStatus === "function" ? endStatus(name) : endStatus,
    visibleAt: now + listingSeconds * 1000,
  };
  for (const fault of faults) {
    if (fault.kind === "endsAs") instance.endStatus = fault.status;
    if (fault.kind === "appearsAfter") instance.visibleAt = now + fault.seconds * 1000;
  }
  const made = store.add(instance);
  return accepted(settings, existing ?? made);
}

/** Returns the oldest instance of this owner that the fault names. */
function findExisting(
  { store }: ServiceState,
  owner: Owner,
  { instance = "*" }: Extract<InstanceFault, { kind: "existingId" }>,
): InstanceRecord | undefined {
  return store
    .all()
    .find(
      ({ id, name, tenant, tokenKind }) =>
        tenant === owner.tenant &&
        tokenKind === owner.kind &&
        (matchesPattern(instance, id) || matchesPattern(instance, name)),
    );
}

function accepted(
  { macAddresses }: Settings,
  { id, name, created_at, networks }: InstanceRecord,
): ServiceResponse {
  const json: AcceptedBody = {
    id,
    name,
    // Rule 2 of "POST /v2/instances", even if provisioning takes no time.
    status: "PROVISIONING",
    created_at,
    networks: networks.map(({ mac_address, ...network }) =>
      macAddresses ? { ...network, mac_address } : network,
    ),
  };
  return { status: 202, json, schema: acceptedSchema };
}

function provisioningSeconds({ provisioningSeconds: time, random }: Settings, name: string) {
  if (typeof time === "function") return time(name);
  return typeof time === "number" ? time : time[0] + random() * (time[1] - time[0]);
}

/** "Resources are ephemeral", for a time that the document does not show. */
const sandboxLifetimeMs = 24 * 60 * 60 * 1000;

/** When the lifetime of a new instance ends, in milliseconds since 1970. Null for a live token: it never ends. */
export function endOfLifetime(settings: Settings, owner: Owner): number | null {
  if (owner.kind === "live") return null;
  return settings.clock.now() + sandboxLifetimeMs;
}

/** The fields that the body of a POST must have. */
const requiredFields = Object.entries(createBody.shape)
  .filter(([, type]) => !type.safeParse(undefined).success)
  .map(([field]) => field);

/** @throws {ServiceError} for a wrong header or body (rule 1 of "POST /v2/instances") */
function parseCreateBody({ contentType = "", body }: ServiceRequest): CreateBody {
  if (!/^application\/json\s*(;|$)/i.test(contentType))
    throw invalidParameter("The header Content-Type must be application/json.");
  const json = parseJson(body);
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw invalidParameter("The request body must be a JSON object.");
  const fields = json as Record<string, unknown>;
  for (const field of requiredFields)
    if (fields[field] === undefined || fields[field] === "")
      throw invalidParameter(`Missing required parameter: ${field}.`);
  const result = createBody.safeParse(json);
  if (!result.success) {
    const field = result.error.issues[0]?.path.join(".") ?? "body";
    throw invalidParameter(`Invalid parameter: ${field} has the wrong type.`);
  }
  const { user_data = "" } = result.data;
  // A repeated group in the pattern would overflow the stack on a long string.
  if (user_data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(user_data))
    throw invalidParameter("Invalid parameter: user_data is not Base64.");
  return result.data;
}

/** @throws {ServiceError} for a body that is too large or not JSON */
function parseJson(body: Buffer | undefined): unknown {
  if (body === undefined) {
    const message = `The body is larger than ${maxBodyBytes} bytes.`;
    throw new ServiceError(413, "body_too_large", message);
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw invalidParameter("The request body is not valid JSON.");
  }
}

/**
 * An extension: "paths, methods and payloads of reboot, stop and destroy: not shown". A 202 says that it takes time.
 * @throws {ServiceError} 404 if no instance of the caller's tenant and token kind has this id
 */
function destroyInstance({ state, caller: { owner }, id }: Call): ServiceResponse {
  const { clock, destroySeconds } = state.settings;
  if (state.store.find(id, owner) === undefined) throw notFound(`There is no instance ${id}.`);
  state.store.setGoneAt(id, clock.now() + destroySeconds * 1000);
  return destroySeconds > 0 ? { status: 202, json: { id } } : { status: 204 };
}

function notFound(message: string): ServiceError {
  return new ServiceError(404, "not_found", message);
}
