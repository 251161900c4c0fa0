/** The client of the service. Loads undici, so it is imported when the first request is made. */
import { withoutScript } from "../redaction";
import {
  type CreateBody,
  type InstanceStatus,
  type Page,
  paths,
  type ProbePage,
  tokenKindOf,
  tolerant,
} from "./contract";
import { RequestError } from "./requestError";
import type { Permit } from "./http/rateLimit";
import { RequestSender } from "./http/request";
import { readAccount, readAs } from "./http/response";
import type { HttpRequest, HttpResponse } from "./http/transport";
import type { ClientOptions } from "./options";
import { outcomeOf, type PostOutcome } from "./postOutcome";

export type { Permit };

/** The query of GET /v2/instances. */
export interface PageQuery {
  /** The page size, from 1 to 100. */
  limit: number;
  status?: InstanceStatus;
  /** The cursor parameter (`compute:cursorParameter`) and its value. */
  cursor?: { parameter: string; value: string };
  /** Whether a failure tells enough, so that the request is not repeated. What the service asks to wait is waited for. */
  isProbe?: boolean;
}

/** What cancels a POST: as long as no byte of it was sent, and at any time. */
export interface PostSignals {
  unsent: AbortSignal;
  grace: AbortSignal;
}

/**
 * One method for each call of the service's document, and for the destroy call that the user can configure. Except for
 * `createInstance`, they reject with a `RequestError`, or with the signal's reason if the signal ended the call.
 */
export interface ComputeApi {
  /** GET /v2/account. The document does not show the response, so any 2xx is accepted. */
  account(signal: AbortSignal): Promise<unknown>;

  /** GET /v2/instances. */
  listPage(query: PageQuery, signal: AbortSignal): Promise<Page>;

  /** Waits until the rate limit allows a POST (G6). Each permit has to be used or released. */
  permitForPost(signal: AbortSignal): Promise<Permit>;

  /**
   * Sends POST /v2/instances once, on a new connection (a create is never blindly retried, G2), and uses up the permit.
   * Never rejects. `unsent` cancels the call only as long as no byte was sent, `grace` at any time. The outcome is then
   * `notSent` if no byte was sent, and otherwise `unclear`.
   */
  createInstance(body: CreateBody, permit: Permit, signals: PostSignals): Promise<PostOutcome>;

  /** Sends DELETE to `compute:destroyPath`, which has to be set. A 404 is a `RequestError`, like any other error status. */
  destroyInstance(id: string, signal: AbortSignal): Promise<void>;

  /** Closes the connections that GETs and DELETEs share, each as soon as it is idle. Resolves when all are closed. */
  close(): Promise<void>;
}

/** A path whose last segment is the id: a DELETE never names more than one instance. */
export type DestroyPath = `/v2/${string}/{id}`;

/** What the service's document leaves open, and `probe` asks. */
export interface ProbeApi extends ComputeApi {
  /** GET /v2/instances with any query. Resolves to the page, and to what stands where its addresses belong. */
  listBy(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ProbePage>;

  /** Sends DELETE for an instance of the sandbox. Resolves to the HTTP status. Rejects with an Error for any other token. */
  destroyAt(path: DestroyPath, id: string, signal: AbortSignal): Promise<number>;
}

/** Makes the client of the service. @throws Error if a proxy variable of the environment is not an address */
export function createClient(options: ClientOptions): ProbeApi {
  return new Client(options);
}

class Client implements ProbeApi {
  readonly #options: ClientOptions;
  readonly #sender: RequestSender;
  /** What the base address has before /v2, mostly nothing. */
  readonly #pathPrefix: string;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#sender = new RequestSender(options);
    this.#pathPrefix = new URL(options.baseUrl).pathname.slice(0, -"/v2".length);
  }

  account(signal: AbortSignal): Promise<unknown> {
    const request = this.#requestTo("GET", paths.account, signal);
    return this.#sender.send({ request, read: readAccount });
  }

  listPage({ limit, status, cursor, isProbe }: PageQuery, signal: AbortSignal): Promise<Page> {
    const query = new URLSearchParams({ limit: String(limit) });
    if (status) query.set("status", status);
    if (cursor) query.set(cursor.parameter, cursor.value);
    const request = this.#requestTo("GET", paths.instances, signal);
    const target = `${request.target}?${query.toString()}`;
    const read = readAs(tolerant.page);
    return this.#sender.send({
      request: { ...request, target },
      read,
      isProbe,
      showsService: true,
    });
  }

  permitForPost(signal: AbortSignal): Promise<Permit> {
    return this.#sender.rateLimit.acquirePermit("POST", paths.instances, signal);
  }

  async createInstance(
    body: CreateBody,
    permit: Permit,
    { unsent, grace }: PostSignals,
  ): Promise<PostOutcome> {
    const signal = AbortSignal.any([unsent, grace]);
    const { redact } = this.#options;
    const { user_data = "" } = body;
    try {
      const request = {
        ...this.#requestTo("POST", paths.instances, signal),
        cancelSent: grace,
        body: JSON.stringify(body),
        redact: (text: string) => withoutScript(redact(text), user_data),
      };
      const read = readAs(tolerant.accepted);
      return { kind: "accepted", accepted: await this.#sender.send({ request, read, permit }) };
    } catch (error) {
      return outcomeOf(error, signal);
    } finally {
      permit.release();
    }
  }

  async destroyInstance(id: string, signal: AbortSignal): Promise<void> {
    const { destroyPath } = this.#options;
    if (!destroyPath) throw new Error("compute:destroyPath is not set");
    await this.#destroy(destroyPath, id, signal);
  }

  listBy(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ProbePage> {
    const request = this.#requestTo("GET", paths.instances, signal);
    const target = `${request.target}?${new URLSearchParams(query).toString()}`;
    const read = (response: HttpResponse): ProbePage => ({
      ...readAs(tolerant.page)(response),
      addresses: readAs(tolerant.addresses)(response),
    });
    return this.#sender.send({ request: { ...request, target }, read, showsService: true });
  }

  async destroyAt(path: DestroyPath, id: string, signal: AbortSignal): Promise<number> {
    if (tokenKindOf(this.#options.token) !== "test" || !path.endsWith("/{id}"))
      throw new Error("only one instance of the sandbox may be destroyed");
    return await this.#destroy(path, id, signal);
  }

  /** Resolves to the HTTP status of the answer. */
  async #destroy(template: string, id: string, signal: AbortSignal): Promise<number> {
    const path = pathWith(template, id);
    const request = { ...this.#requestTo("DELETE", path, signal), endpoint: template };
    return await this.#sender.send({ request, read: ({ status }) => status });
  }

  close(): Promise<void> {
    return this.#sender.close();
  }

  /** A request that `signal` cancels. */
  #requestTo(method: HttpRequest["method"], path: string, signal: AbortSignal): HttpRequest {
    const target = this.#pathPrefix + path;
    const { redact } = this.#options;
    return {
      method,
      path,
      endpoint: path,
      target,
      redact,
      cancelUnsent: signal,
      cancelSent: signal,
    };
  }
}

/**
 * Returns the path of the DELETE.
 *
 * @throws RequestError if no path can have this id
 */
function pathWith(destroyPath: string, id: string): string {
  const pathOf = (segment: string) => destroyPath.replaceAll("{id}", () => segment);
  // Such an id can't be a segment of a path.
  if (["", ".", ".."].includes(id) || !id.isWellFormed()) {
    const cause = "this id can't be part of a path";
    throw new RequestError({ kind: "unsendable", method: "DELETE", path: pathOf(id), cause });
  }
  return pathOf(encodeURIComponent(id));
}
