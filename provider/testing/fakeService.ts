/**
 * Stands for the service where exact call counts and chosen faults matter, behind the interface of
 * the client: no sockets, no time of its own. The emulator and real sockets cover the rest.
 */
import { raceAbort } from "../abort";
import type { Accepted, ComputeApi, CreatePermit, Page, PageQuery } from "../api/client";
import type { CreateBody, ListItem } from "../api/contract";
import { RequestError, type FailureKind } from "../api/errors";
import { outcomeOf, type PostOutcome } from "../api/postOutcome";

type Signals = Parameters<ComputeApi["createInstance"]>[2];
/** What it throws becomes an outcome as it would in the real client. */
export type Post = (
  body: CreateBody,
  signals: Signals,
  service: FakeService,
) => Accepted | Promise<Accepted>;
/** Throws, or lets the call through. */
type Fault = () => void | Promise<void>;
/** As the rate limit does it: resolves when a POST may go. */
type Hold = (signal: AbortSignal) => void | Promise<void>;

export class FakeService implements ComputeApi {
  readonly instances = new Map<string, ListItem>();
  /** Every call, as "list", "list ACTIVE", "list after i-1", "create web", "destroy i-1", "account". */
  readonly calls: string[] = [];
  readonly bodies: CreateBody[] = [];
  /** What the next POSTs do; when none is left, a POST is accepted. */
  readonly posts: Post[] = [];
  /** What the next permits wait for; undefined and none left: nothing. */
  readonly permitHolds: (Hold | undefined)[] = [];
  /** Permits neither used nor released. */
  openPermits = 0;
  /** What happens to the next listings, in order; undefined and none left: nothing. */
  readonly listFaults: (Fault | undefined)[] = [];
  readonly destroys: Fault[] = [];
  accountAnswer: () => unknown = () => ({});
  /** The parameter that pages, if the service has one. */
  cursorParameter: string | undefined;
  unreadable = 0;
  /** Overrides a page of the list as a whole. */
  page: ((query: PageQuery) => Page | undefined) | undefined;
  #made = 0;

  /** Puts an instance there, as if someone else had made it. */
  has(id: string, item: Partial<ListItem> = {}): ListItem {
    const whole = { id, name: id, status: "ACTIVE", ipv4_public: "203.0.113.9", ...item };
    this.instances.set(id, whole);
    return whole;
  }

  set(id: string, change: Partial<ListItem>): void {
    this.has(id, { ...this.instances.get(id), ...change });
  }

  /** Takes a POST as the document says. */
  accept(body: CreateBody): Accepted {
    const id = `i-${++this.#made}`;
    this.has(id, { name: body.name, status: "PROVISIONING", ipv4_public: undefined });
    return {
      id,
      name: body.name,
      status: "PROVISIONING",
      createdAt: "2026-01-01T00:00:00Z",
      networks: [{ type: "private", ipv4: "10.0.0.5", mac_address: "52:54:00:00:00:01" }],
    };
  }

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

  async createPermit(signal: AbortSignal): Promise<CreatePermit> {
    signal.throwIfAborted();
    await raceAbort(Promise.resolve(this.permitHolds.shift()?.(signal)), signal);
    signal.throwIfAborted();
    this.openPermits++;
    let open = true;
    const release = () => {
      if (open) this.openPermits--;
      open = false;
    };
    return { release };
  }

  async createInstance(
    body: CreateBody,
    permit: CreatePermit,
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

/** With the document's error envelope, unless `envelope` says otherwise. */
export function answered(status: number, method = "POST", envelope = true): RequestError {
  const message = `the service said ${status}`;
  return new RequestError({
    ...{ kind: "answered", method, path: "/v2/instances", cause: message, status },
    ...(envelope && { service: { message } }),
  });
}

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

/** A POST that ends with `error`, after the service acted or without. */
export function post(error: RequestError, how: { acts: boolean }): Post {
  return (body, _signals, service) => {
    if (how.acts) service.accept(body);
    throw error;
  };
}

export const fail =
  (error: Error): Fault =>
  () => {
    throw error;
  };
