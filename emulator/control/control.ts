import type { TokenKind } from "../../provider/api/serviceConstants";
import type { EmulatedService } from "../emulatedService";
import { endOfLifetime } from "../endpoints";
import type { FaultScript } from "../faults/kinds";
import type { FaultHandle } from "../faults/script";
import type { InstanceRecord } from "../instances/store";
import { OptionError, type AccountBody } from "../options";
import { overviewOf, type Overview } from "../page/overview";
import type { LoggedRequest } from "../requestLog";
import { defaultTenant, type TokenDeclaration } from "../tokens";

/** An instance to be added. */
export interface InsertedInstance {
  name: string;
  /** The default is a random id. */
  id?: string;
  /** The default is the tenant named `default`. */
  tenant?: string;
  /** The default is `test`. */
  tokenKind?: TokenKind;
  /** The default is `ACTIVE`. PROVISIONING lasts until `setStatus` is called. */
  status?: string;
}

/** With this control API, tests read and change the state of an emulator without API calls. */
export class Control {
  readonly #service: EmulatedService;

  constructor(service: EmulatedService) {
    this.#service = service;
  }

  get #store() {
    return this.#service.state.store;
  }

  /** The instances that exist now, of every tenant and token kind, oldest first. */
  instances(): InstanceRecord[] {
    return this.#store.all();
  }

  instance(id: string): InstanceRecord | undefined {
    return this.#store.find(id);
  }

  has(id: string): boolean {
    return this.#store.has(id);
  }

  /** @throws {OptionError} if an instance has this id already */
  insert(inserted: InsertedInstance): InstanceRecord {
    const { settings } = this.#service;
    const { name, id, tenant = defaultTenant, tokenKind = "test", status = "ACTIVE" } = inserted;
    if (id !== undefined && this.has(id))
      throw new OptionError(`insert: there is an instance ${id} already`);
    const now = settings.clock.now();
    const owner = { tenant, kind: tokenKind };
    return this.#store.add({
      owner,
      id,
      name,
      request: {},
      readyAt: status === "PROVISIONING" ? null : this.#store.longReady(),
      endStatus: status,
      visibleAt: now,
      goneAt: endOfLifetime(settings, owner),
    });
  }

  /** As `rename` and `setStatus`, returns false if no instance has this id. */
  remove(id: string): boolean {
    return this.#store.setGoneAt(id, this.#service.settings.clock.now());
  }

  rename(id: string, name: string): boolean {
    return this.#store.rename(id, name);
  }

  /** Sets any status. PROVISIONING lasts until the next `setStatus`. */
  setStatus(id: string, status: string): boolean {
    return this.#store.setStatus(id, status);
  }

  /** Ends provisioning now for all instances, except for those that never leave PROVISIONING. */
  finishProvisioning(): void {
    this.#store.finishProvisioning();
  }

  /** @throws {OptionError} for an invalid script */
  fault(script: FaultScript): FaultHandle {
    return this.#service.faultScripts.add(script);
  }

  /** The scripted faults, including those that never apply again (`isSpent`). */
  faults(): readonly FaultHandle[] {
    return this.#service.faultScripts.all();
  }

  clearFaults(): void {
    this.#service.faultScripts.clear();
  }

  /** Replaces the declaration of a token, for example to revoke it. */
  declareToken(token: string, declaration: TokenDeclaration): void {
    this.#service.state.tokens.declare(token, declaration);
  }

  /** Sets the body of GET /v2/account. Undefined restores the default body. */
  setAccount(body: AccountBody | undefined): void {
    this.#service.state.account = body;
  }

  /** The logged requests, oldest first. */
  requests(): readonly LoggedRequest[] {
    return this.#service.requestLog.all();
  }

  /** The number of requests by method and path, such as `POST /v2/instances`. */
  counts(): Record<string, number> {
    return this.#service.requestLog.counts();
  }

  forgetRequests(): void {
    this.#service.requestLog.clear();
  }

  /** What the emulator's page shows. */
  overview(): Overview {
    return overviewOf(this.#service);
  }
}
