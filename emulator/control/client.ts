/** The control API of an emulator that runs as another process with `--control`. */
import type { FaultKind, FaultScript } from "../faults/kinds";
import type { InstanceRecord } from "../instances/instance";
import type { AccountBody } from "../options";
import type { LoggedRequest } from "../requestLog";
import type { TokenDeclaration } from "../tokens";
import type { InsertedInstance } from "./control";

/** A fault as seen from another process: `hits` as of the call that returned it. */
export interface RemoteFault {
  id: number;
  kind: FaultKind;
  hits: number;
}

export class ControlClient {
  private readonly base: URL;

  /** `url` is the emulator's, with or without `/v2`. */
  constructor(url: string) {
    this.base = new URL("/control/", url);
  }

  instances = () => this.call<InstanceRecord[]>("GET", "instances");
  insert = (instance: InsertedInstance) => this.call<InstanceRecord>("POST", "instances", instance);
  /** False when there is no instance of that id; so do the next two. */
  remove = (id: string) => this.found("DELETE", `instances/${encodeURIComponent(id)}`);
  rename = (id: string, name: string) =>
    this.found("PATCH", `instances/${encodeURIComponent(id)}`, { name });
  setStatus = (id: string, status: string) =>
    this.found("PATCH", `instances/${encodeURIComponent(id)}`, { status });
  settle = () => this.call<unknown>("POST", "settle");

  /** All kinds but `rewrite`, which is a function and cannot cross over. */
  fault = (script: Exclude<FaultScript, { kind: "rewrite" }>) =>
    this.call<RemoteFault>("POST", "faults", {
      ...script,
      // JSON has no Infinity.
      ...(script.times === Infinity && { times: "always" }),
    });
  faults = () => this.call<RemoteFault[]>("GET", "faults");
  clearFaults = () => this.call<unknown>("DELETE", "faults");
  removeFault = (id: number) => this.found("DELETE", `faults/${String(id)}`);
  releaseFault = (id: number) => this.found("POST", `faults/${String(id)}/release`);

  declareToken = (token: string, declaration: TokenDeclaration) =>
    this.call<unknown>("POST", "tokens", { token, ...declaration });
  setAccount = (body: AccountBody | undefined) =>
    this.call<unknown>("PUT", "account", body ?? null);

  requests = () => this.call<LoggedRequest[]>("GET", "requests");
  /** By method and path, such as `POST /v2/instances`. */
  counts = () => this.call<Record<string, number>>("GET", "counts");
  forgetRequests = () => this.call<unknown>("DELETE", "requests");

  private async found(method: string, path: string, body?: unknown): Promise<boolean> {
    const response = await this.send(method, path, body);
    if (response.status === 404) return false;
    await this.read(response);
    return true;
  }

  private async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    return (await this.read(await this.send(method, path, body))) as T;
  }

  private send(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(new URL(path, this.base), {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  private async read(response: Response): Promise<unknown> {
    const text = await response.text();
    if (!response.ok) throw new Error(`emulator control: ${String(response.status)} ${text}`);
    return JSON.parse(text);
  }
}
