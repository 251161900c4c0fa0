/**
 * A fake of the service that implements the interface of the API client, for tests that count calls or choose faults. It
 * uses no sockets and no clock. Other tests of the operations use the emulator.
 */
import { raceAbort } from "../abort";
import type { Accepted, ComputeApi, PostPermit, Page, PageQuery } from "../api/client";
import type { CreateBody, ListItem } from "../api/contract";
import { RequestError, type FailureKind } from "../api/errors";
import { outcomeOf, type PostOutcome } from "../api/postOutcome";

type Signals = Parameters<ComputeApi["createInstance"]>[2];
/** What the fake does for one POST. An error that this function throws becomes an outcome, as in the real client. */
export type Post = (
  body: CreateBody,
  signals: Signals,
  service: FakeService,
) => Accepted | Promise<Accepted>;
/** Called before the fake acts on a request. It fails the request by throwing. */
type Fault = () => void | Promise<void>;
/** Delays a permit, as the rate limit does. Resolves when the POST may be sent. */
type Hold = (signal: AbortSignal) => void | Promise<void>;

/** A fake of the service, with lists of what its next calls do. */
export class FakeService implements ComputeApi {
  readonly instances = new Map<string, ListItem>();
  /** Every API call, such as "list", "list ACTIVE", "list after i-1", "create web", "destroy i-1", "account". */
  readonly calls: string[] = [];
  readonly bodies: CreateBody[] = [];
  /** What the next POSTs do. If the list is empty, a POST is accepted. */
  readonly posts: Post[] = [];
  /** What the next permits wait for. With undefined or an empty list, `acquirePostPermit` returns at once. */
  readonly permitHolds: (Hold | undefined)[] = [];
  /** The number of permits that were neither used nor released. */
  openPermits = 0;
  /** The faults of the next pages of listings. With undefined or an empty list, a page has no fault. */
  readonly listFaults: (Fault | undefined)[] = [];
  /** What the next DELETEs do instead of destroying. If the list is empty, the instance is destroyed. */
  readonly destroys: Fault[] = [];
  /** Returns the response to GET /v2/account, or throws. */
  accountAnswer: () => unknown = () => ({});
  /** The cursor parameter of the list. Undefined if the list has no cursor. */
  cursorParameter: string | undefined;
  /** The number of unreadable items that each page reports. */
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

  /** Changes fields of an instance. */
  set(id: string, change: Partial<ListItem>): void {
    this.has(id, { ...this.instances.get(id), ...change });
  }

  /** Creates an instance in PROVISIONING, and returns the 202 of the service's API document. */
  accept(body: CreateBody): Accepted {
    const id = `i-${++this.#acceptedCount}`;
    this.has(id, { name: body.name, status: "PROVISIONING", ipv4_public: undefined });
    return {
      id,
      name: body.name,
      status: "PROVISIONING",
      createdAt: "2026-01-01T00:00:00Z",
      networks: [{ type: "private", ipv4: "10.0.0.5", mac_address: "52:54:00:00:00:01" }],
    };
  }

  /** The number of API calls so far that begin with `prefix`. */
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

  async acquirePostPermit(signal: AbortSignal): Promise<PostPermit> {
    signal.throwIfAborted();
    await raceAbort(Promise.resolve(this.permitHolds.shift()?.(signal)), signal);
    signal.throwIfAborted();
    this.openPermits++;
    let isOpen = true;
    const release = () => {
      if (isOpen) this.openPermits--;
      isOpen = false;
    };
    return { release };
  }

  async createInstance(
    body: CreateBody,
    permit: PostPermit,
    signals: Signals,
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

/** The error of a request that was answered with this status. It has the error envelope unless `envelope` is false. */
export function answered(status: number, method = "POST", envelope = true): RequestError {
  const message = `the service said ${status}`;
  return new RequestError({
    ...{ kind: "answered", method, path: "/v2/instances", cause: message, status },
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

/** A POST that fails with `error`. `acts` says whether the service creates the instance first. */
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
