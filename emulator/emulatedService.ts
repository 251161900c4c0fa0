/** The emulated service without a transport, for exchange.ts (sockets) and inProcess.ts (calls). */
import { requestIdPrefix, tokenKindOf } from "../provider/api/serviceConstants";
import { callEndpoint, type ServiceState } from "./endpoints";
import { isInstanceFault, isListFault, type InstanceFault, type ListFault } from "./faults/kinds";
import { applyListFaults } from "./faults/list";
import { FaultScripts, type ScriptedFault } from "./faults/script";
import { parseTarget, type IncomingRequest, type ServiceRequest } from "./http/request";
import { errorResponse, ServiceError, type ServiceResponse } from "./http/response";
import { parseNet } from "./instances/addresses";
import { openDatabase } from "./instances/database";
import { InstanceStore } from "./instances/store";
import { validSettings, type EmulatorOptions, type Settings } from "./options";
import { randomHex } from "./random";
import { RateLimiter } from "./rateLimit";
import { RequestLog, type LoggedRequest } from "./requestLog";
import { parseBearerToken, TokenRegistry } from "./tokens";

/** A request that is logged, but not acted on yet. */
export interface ReceivedRequest {
  request: ServiceRequest;
  requestId: string;
  entry: LoggedRequest;
  faults: readonly ScriptedFault[];
}

/** One emulated service, with all its state. */
export class EmulatedService {
  readonly settings: Settings;
  readonly faultScripts = new FaultScripts();
  readonly requestLog = new RequestLog();
  state: ServiceState;

  /** @throws {OptionError} for invalid options */
  constructor(options: EmulatorOptions) {
    this.settings = validSettings(options);
    const { database, clock, random, addresses } = this.settings;
    const net = addresses === undefined ? undefined : parseNet(addresses);
    const store = new InstanceStore(openDatabase(database), clock, random, net, this.settings);
    this.state = this.#newState(store);
  }

  #newState(store: InstanceStore): ServiceState {
    const { settings } = this;
    const { tokens, requestsPerMinute, rateWindow, clock } = settings;
    return {
      settings,
      store,
      tokens: new TokenRegistry(tokens),
      rateLimiter: new RateLimiter(requestsPerMinute, rateWindow, clock),
      account: undefined,
    };
  }

  /** Logs a request, and selects the scripted faults that apply to it. */
  receive(incoming: IncomingRequest): ReceivedRequest {
    const request = { ...incoming, ...parseTarget(incoming.target) };
    const requestId = `${requestIdPrefix}${randomHex(this.settings.random, 24)}`;
    const entry: LoggedRequest = {
      id: requestId,
      method: request.method,
      path: request.path,
      query: Object.fromEntries(request.query),
      at: this.settings.clock.now(),
      tokenKind: tokenKindOf(parseBearerToken(request.authorization) ?? ""),
      name: nameInBody(request.body),
      status: undefined,
      acted: false,
      faults: [],
    };
    const faults = this.faultScripts.take(entry);
    entry.faults = faults.map(({ kind, label }) => label ?? kind);
    this.requestLog.add(entry);
    return { request, requestId, entry, faults };
  }

  /** Acts on the request, and returns the response. `moreFaults` apply in addition to the scripted faults. */
  answer(
    { request, requestId, entry, faults: scripted }: ReceivedRequest,
    moreFaults: readonly (InstanceFault | ListFault)[] = [],
  ): ServiceResponse {
    const faults = [...scripted.map(({ fault }) => fault), ...moreFaults];
    let response = this.#callEndpoint(request, requestId, faults.filter(isInstanceFault));
    entry.acted = response.acted ?? true;
    const violation = describeViolation(response);
    if (violation !== undefined) {
      const message = `the response breaks the contract: ${violation}`;
      response = this.#reportBug(request, requestId, message);
    }
    return applyListFaults(response, faults.filter(isListFault), requestId);
  }

  #callEndpoint(
    request: ServiceRequest,
    requestId: string,
    faults: readonly InstanceFault[],
  ): ServiceResponse {
    try {
      return callEndpoint(this.state, request, faults);
    } catch (error) {
      if (error instanceof ServiceError) return errorResponse(error, requestId);
      return this.#reportBug(request, requestId, String(error));
    }
  }

  #reportBug({ method, path }: ServiceRequest, requestId: string, message: string) {
    this.settings.errorLog(`emulator bug: ${method} ${path} ${requestId}: ${message}`);
    return errorResponse(new ServiceError(500, "emulator_bug", message), requestId);
  }

  /** Restores the initial state. The clock and the source of random numbers are not reset. */
  reset(): void {
    this.state.store.clear();
    this.state = this.#newState(this.state.store);
    this.faultScripts.clear();
    this.requestLog.clear();
  }

  close(): void {
    this.state.store.close();
  }
}

/** Returns the `name` in a JSON body, if there is one. */
function nameInBody(body: Buffer | undefined): string | undefined {
  if (body === undefined || body.length === 0) return undefined;
  try {
    const json: unknown = JSON.parse(body.toString("utf8"));
    const hasName = typeof json === "object" && json !== null && "name" in json;
    return hasName && typeof json.name === "string" ? json.name : undefined;
  } catch {
    return undefined;
  }
}

/** Says how a response breaks its schema, if it does. */
function describeViolation({ schema, json }: ServiceResponse): string | undefined {
  return schema
    ?.safeParse(json)
    .error?.issues.map((issue) => `${issue.path.join(".") || "body"}: ${issue.message}`)
    .join("; ");
}
