/** A fake of the API client, without sockets and clock, for tests that count calls or choose faults. */
import { raceAbort } from "../abort";
import type { ComputeApi, PageQuery, Permit, PostSignals } from "../api/client";
import type { Accepted, CreateBody, ListItem, Page } from "../api/contract";
import { RequestError, type FailureKind } from "../api/requestError";
import { outcomeOf, type PostOutcome } from "../api/postOutcome";

/** Does one POST. An error that it throws becomes an outcome, as in the real client. */
export type Post = (
  body: CreateBody,
  signals: PostSignals,
  service: FakeService,
) => Accepted | Promise<Accepted>;
/** Fails a request by throwing, before the fake acts on it. */
type Fault = () => void | Promise<void>;
/** Resolves when a POST may be sent. */
type Hold = (signal: AbortSignal) => void | Promise<void>;

/** The lists of faults, answers and holds say what the next calls do. An empty list or undefined means success. */
export class FakeService implements ComputeApi {
  readonly instances = new Map<string, ListItem>();
  /** Such as "list", "list ACTIVE", "list after i-1", "create web", "destroy i-1", "account". */
  readonly calls: string[] = [];
  readonly bodies: CreateBody[] = [];
  readonly posts: Post[] = [];
  readonly permitHolds: (Hold | undefined)[] = [];
  /** How many permits were neither used nor released. */
  openPermits = 0;
  /** For each page. */
  readonly listFaults: (Fault | undefined)[] = [];
  /** What DELETEs do instead of destroying. */
  readonly destroys: Fault[] = [];
  /** The response to GET /v2/account. It may throw. */
  accountAnswer: () => unknown = () => ({});
  /** Undefined if the list has no cursor. */
  cursorParameter: string | undefined;
  /** How many unreadable items each page reports. */
  unreadable = 0;
  /** Replaces a page of the list, unless it returns undefined. */
  page: ((query: PageQuery) => Page | undefined) | undefined;
  #acceptedCount = 0;

  /** Adds an instance, as if someone else had created it, or replaces it. */
  has(id: string, item: Partial<ListItem> = {}): ListItem {
    const instance = { id, name: id, status: "ACTIVE", ipv4_public: "203.0.113.9", ...item };
    this.instances.set(id, instance);
    return instance;
  }

  set(id: string, change: Partial<ListItem>): void {
    this.has(id, { ...this.instances.get(id), ...change });
  }

  /** Creates an instance in PROVISIONING, whose address is listed already, and returns the 202. */
  accept(body: CreateBody): Accepted {
    const id = `i-${++this.#acceptedCount}`;
    this.has(id, { name: body.name, status: "PROVISIONING" });
    return {
      id,
      name: body.name,
      status: "PROVISIONING",
      createdAt: "2026-01-01T00:00:00Z",
      networks: [{ type: "private", ipv4: "10.0.0.5", mac_address: "52:54:00:00:00:01" }],
    };
  }

  /** How many API calls so far begin with `prefix`. */
  count(prefix: string): number {
    return this.calls.filter((call) => call.startsWith(prefix)).length;
  }

  async account(): Promise<unknown> {
    this.calls.push("account");
    return this.accountAnswer();
  }

  async listPage(query: PageQuery, signal: AbortSignal): Promise<Page> {
    const { limit, status, cursor } = query;
    this.calls.push(["list", status, cursor && `after ${cursor.value}`].filter(Boolean).join(" "));
    signal.throwIfAborted();
    await this.listFaults.shift()?.();
    const page = this.page?.(query);
    if (page) return page;
    let items = [...this.instances.values()];
    if (status) items = items.filter((item) => item.status === status);
    if (cursor && cursor.parameter === this.cursorParameter) {
      items = items.slice(items.findIndex((item) => item.id === cursor.value) + 1);
    }
    return {
      items: items.slice(0, limit),
      hasMore: items.length > limit,
      unreadable: this.unreadable,
    };
  }

  async permitForPost(signal: AbortSignal): Promise<Permit> {
    signal.throwIfAborted();
    await raceAbort(Promise.resolve(this.permitHolds.shift()?.(signal)), signal);
    signal.throwIfAborted();
    this.openPermits++;
    let isOpen = true;
    const release = () => {
      if (isOpen) this.openPermits--;
      isOpen = false;
    };
    return { use: () => () => undefined, release };
  }

  async createInstance(
    body: CreateBody,
    permit: Permit,
    signals: PostSignals,
  ): Promise<PostOutcome> {
    permit.release();
    try {
      signals.unsent.throwIfAborted();
      this.calls.push(`create ${body.name}`);
      this.bodies.push(body);
      const post = this.posts.shift();
      const accepted = await (post ? post(body, signals, this) : this.accept(body));
      return { kind: "accepted", accepted };
    } catch (error) {
      return outcomeOf(error, signals.unsent);
    }
  }

  async destroyInstance(id: string): Promise<void> {
    this.calls.push(`destroy ${id}`);
    const fault = this.destroys.shift();
    if (fault) return fault();
    if (!this.instances.delete(id)) throw answered(404, "DELETE");
  }

  async close(): Promise<void> {
    // There is nothing to close.
  }
}

/** The error of a request that was answered with this status, with or without the error envelope. */
export function answered(status: number, method = "POST", envelope = true): RequestError {
  const message = `the service said ${status}`;
  return new RequestError({
    kind: "answered",
    method,
    path: "/v2/instances",
    cause: message,
    status,
    ...(envelope && { service: { message } }),
  });
}

/** The error of a request that failed in another way. */
export function failed(
  kind: FailureKind,
  cause: string = kind,
  method = "POST",
  status?: number,
): RequestError {
  return new RequestError({ kind, method, path: "/v2/instances", cause, status });
}

/** A POST whose instance is ACTIVE at once. */
export const ready: Post = (body, _signals, service) => {
  const accepted = service.accept(body);
  service.set(accepted.id, { status: "ACTIVE" });
  return accepted;
};

/** A POST that fails with `error`, after the service has created the instance if `acts`. */
export function post(error: RequestError, how: { acts: boolean }): Post {
  return (body, _signals, service) => {
    if (how.acts) service.accept(body);
    throw error;
  };
}

/** A fault that fails a request with `error`. */
export const fail =
  (error: Error): Fault =>
  () => {
    throw error;
  };
