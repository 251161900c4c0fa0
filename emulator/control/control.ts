/** What tests see of the service and change in it, without calling the service. */
import type { TokenKind } from "../../provider/api/contract";
import type { EmulatedService } from "../emulatedService";
import { endOfLifetime } from "../endpoints";
import type { FaultScript } from "../faults/kinds";
import type { FaultHandle } from "../faults/script";
import type { InstanceRecord } from "../instances/store";
import { OptionError, type AccountBody } from "../options";
import type { LoggedRequest } from "../requestLog";
import { defaultTenant, type TokenDeclaration } from "../tokens";

/** An instance that exists without a POST. */
export interface InsertedInstance {
  name: string;
  /** A random id by default. */
  id?: string;
  /** `default` by default. */
  tenant?: string;
  /** `test` by default. */
  tokenKind?: TokenKind;
  /** `ACTIVE` by default. PROVISIONING lasts until `setStatus`. */
  status?: string;
}

/** The control API of one emulator. */
export class Control {
  readonly #service: EmulatedService;

  constructor(service: EmulatedService) {
    this.#service = service;
  }

  get #store() {
    return this.#service.state.store;
  }

  /** All instances that exist now, of every tenant and token kind, oldest first. */
  instances(): InstanceRecord[] {
    return this.#store.all();
  }

  instance(id: string): InstanceRecord | undefined {
    return this.#store.find(id);
  }

  has(id: string): boolean {
    return this.#store.has(id);
  }

  /** @throws {OptionError} if there is an instance of that id */
  insert(inserted: InsertedInstance): InstanceRecord {
    const { settings } = this.#service;
    const { name, id, tenant = defaultTenant, tokenKind = "test", status = "ACTIVE" } = inserted;
    if (id !== undefined && this.has(id))
      throw new OptionError(`insert: there is an instance ${id} already`);
    const now = settings.clock.now();
    const owner = { tenant, kind: tokenKind };
    return this.#store.add({
      ...{ owner, id, name, request: {} },
      readyAt: status === "PROVISIONING" ? null : now,
      endStatus: status,
      visibleAt: now,
      goneAt: endOfLifetime(settings, owner),
    });
  }

  /** Destroys an instance without a call of the service. False if there is none of that id. */
  remove(id: string): boolean {
    return this.#store.setGoneAt(id, this.#service.settings.clock.now());
  }

  /** False if there is no such instance. */
  rename(id: string, name: string): boolean {
    return this.#store.rename(id, name);
  }

  /** `status` is any text. PROVISIONING lasts until the next call. False if there is no such instance. */
  setStatus(id: string, status: string): boolean {
    return this.#store.setStatus(id, status);
  }

  /** Ends all provisioning now, except for instances that never leave PROVISIONING. */
  settle(): void {
    this.#store.finishProvisioning();
  }

  /** @throws {OptionError} for a script that makes no sense */
  fault(script: FaultScript): FaultHandle {
    return this.#service.faultScripts.add(script);
  }

  faults(): readonly FaultHandle[] {
    return this.#service.faultScripts.all();
  }

  clearFaults(): void {
    this.#service.faultScripts.clear();
  }

  /** Replaces what was declared about the token: revokes it, takes a scope away. */
  declareToken(token: string, declaration: TokenDeclaration): void {
    this.#service.state.tokens.declare(token, declaration);
  }

  /** Sets the body of GET /v2/account; undefined sets the usual one. */
  setAccount(body: AccountBody | undefined): void {
    this.#service.state.account = body;
  }

  /** Oldest first. */
  requests(): readonly LoggedRequest[] {
    return this.#service.requestLog.all();
  }

  /** Counts by method and path, such as `POST /v2/instances`. */
  counts(): Record<string, number> {
    return this.#service.requestLog.counts();
  }

  forgetRequests(): void {
    this.#service.requestLog.clear();
  }
}
