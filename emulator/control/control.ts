/** What tests can see and do behind the service's back. */
import type { TokenKind } from "../../provider/api/contract";
import type { FaultScript } from "../faults/kinds";
import type { FaultHandle, FaultList } from "../faults/script";
import type { InstanceRecord } from "../instances/instance";
import { lifetimeEnd } from "../instances/lifecycle";
import { OptionError, type AccountBody } from "../options";
import type { LoggedRequest, RequestLog } from "../requestLog";
import type { Service } from "../service";
import { defaultTenant, type TokenDeclaration } from "../tokens";

export interface InsertedInstance {
  name: string;
  id?: string;
  /** `default` unless said otherwise. */
  tenant?: string;
  /** `test` unless said otherwise. */
  tokenKind?: TokenKind;
  /** `ACTIVE` unless said otherwise; PROVISIONING lasts until `setStatus`. */
  status?: string;
}

export class Control {
  constructor(
    private readonly service: Service,
    private readonly faultList: FaultList,
    private readonly requestLog: RequestLog,
  ) {}

  /** All that exist now, of every tenant and kind, oldest first. */
  instances(): InstanceRecord[] {
    return this.service.store.all();
  }

  instance(id: string): InstanceRecord | undefined {
    return this.service.store.find(id);
  }

  has(id: string): boolean {
    return this.service.store.has(id);
  }

  /** An instance that somebody else made before. */
  insert(given: InsertedInstance): InstanceRecord {
    const { clock } = this.service.settings;
    const { name, id, tenant = defaultTenant, tokenKind = "test", status = "ACTIVE" } = given;
    if (id !== undefined && this.has(id))
      throw new OptionError(`insert: there is an instance ${id} already`);
    const owner = { tenant, kind: tokenKind };
    return this.service.store.add({
      ...{ ...owner, id, name, request: {} },
      readyAt: status === "PROVISIONING" ? null : clock.now(),
      endStatus: status,
      visibleAt: clock.now(),
      goneAt: lifetimeEnd(this.service.settings, owner),
    });
  }

  /** Somebody destroys an instance out of band. False when there is none of that id. */
  remove(id: string): boolean {
    return this.service.store.goneAt(id, this.service.settings.clock.now());
  }

  rename(id: string, name: string): boolean {
    return this.service.store.rename(id, name);
  }

  /** Any text, also what the document does not know; PROVISIONING lasts until the next call. */
  setStatus(id: string, status: string): boolean {
    return this.service.store.setStatus(id, status);
  }

  /** All provisioning is done now, but for what never leaves PROVISIONING. */
  settle(): void {
    this.service.store.settle();
  }

  fault(script: FaultScript): FaultHandle {
    return this.faultList.add(script);
  }

  /** Undefined when it was removed or never scripted. */
  scripted(id: number): FaultHandle | undefined {
    return this.faultList.get(id);
  }

  faults(): readonly FaultHandle[] {
    return this.faultList.all();
  }

  clearFaults(): void {
    this.faultList.clear();
  }

  /** From now on this is what is known of the token: revoke it, take a scope away. */
  declareToken(token: string, declaration: TokenDeclaration): void {
    this.service.tokens.declare(token, declaration);
  }

  /** What GET /v2/account answers; undefined for the usual. */
  setAccount(body: AccountBody | undefined): void {
    this.service.account = body;
  }

  /** Oldest first. */
  requests(): readonly LoggedRequest[] {
    return this.requestLog.all();
  }

  /** By method and path, such as `POST /v2/instances`. */
  counts(): Record<string, number> {
    return this.requestLog.counts();
  }

  forgetRequests(): void {
    this.requestLog.clear();
  }
}
