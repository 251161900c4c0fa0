/** A client of the control API. Tests use it for an emulator that runs in another process. */
import type { FaultKind, FaultScript } from "../faults/kinds";
import type { InstanceRecord } from "../instances/store";
import type { AccountBody } from "../options";
import type { LoggedRequest } from "../requestLog";
import type { TokenDeclaration } from "../tokens";
import type { InsertedInstance } from "./control";

/** A scripted fault, as it was when the response was sent. */
export interface RemoteFault {
  id: number;
  kind: FaultKind;
  /** The number of requests that the fault had applied to. */
  hits: number;
}

/** Calls the methods of `Control` over HTTP. */
export class ControlClient {
  readonly #base: URL;

  /** `url` is the address of the emulator, with or without `/v2`. */
  constructor(url: string) {
    this.#base = new URL("/control/", url);
  }

  instances = () => this.#call<InstanceRecord[]>("GET", "instances");
  insert = (instance: InsertedInstance) =>
    this.#call<InstanceRecord>("POST", "instances", instance);
  /** `remove`, `rename` and `setStatus` return false if no instance has this id. */
  remove = (id: string) => this.#found("DELETE", `instances/${encodeURIComponent(id)}`);
  rename = (id: string, name: string) =>
    this.#found("PATCH", `instances/${encodeURIComponent(id)}`, { name });
  setStatus = (id: string, status: string) =>
    this.#found("PATCH", `instances/${encodeURIComponent(id)}`, { status });
  settle = () => this.#call<unknown>("POST", "settle");

  /** Adds a fault of any kind except `rewrite`, because its function can't be sent. */
  fault = (script: Exclude<FaultScript, { kind: "rewrite" }>) =>
    this.#call<RemoteFault>("POST", "faults", {
      ...script,
      // JSON has no Infinity.
      ...(script.times === Infinity && { times: "always" }),
    });
  faults = () => this.#call<RemoteFault[]>("GET", "faults");
  clearFaults = () => this.#call<unknown>("DELETE", "faults");
  removeFault = (id: number) => this.#found("DELETE", `faults/${String(id)}`);
  releaseFault = (id: number) => this.#found("POST", `faults/${String(id)}/release`);

  declareToken = (token: string, declaration: TokenDeclaration) =>
    this.#call<unknown>("POST", "tokens", { token, ...declaration });
  setAccount = (body: AccountBody | undefined) =>
    this.#call<unknown>("PUT", "account", body ?? null);

  requests = () => this.#call<LoggedRequest[]>("GET", "requests");
  /** The number of requests by method and path, such as `POST /v2/instances`. */
  counts = () => this.#call<Record<string, number>>("GET", "counts");
  forgetRequests = () => this.#call<unknown>("DELETE", "requests");

  async #call<T>(method: string, path: string, body?: unknown): Promise<T> {
    return (await readJson(await this.#send(method, path, body))) as T;
  }

  async #found(method: string, path: string, body?: unknown): Promise<boolean> {
    const response = await this.#send(method, path, body);
    if (response.status === 404) return false;
    await readJson(response);
    return true;
  }

  #send(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(new URL(path, this.#base), {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  if (!response.ok) throw new Error(`emulator control: ${String(response.status)} ${text}`);
  return JSON.parse(text);
}
