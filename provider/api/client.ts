/** The client of the service. Loads undici, so it is imported when the first request is made. */
import { type CreateBody, type InstanceStatus, type Page, paths, tolerant } from "./contract";
import { RequestError } from "./errors";
import type { Front, Permit } from "./http/rateLimit";
import { RequestSender } from "./http/request";
import { readAccount, readAs } from "./http/response";
import type { HttpRequest } from "./http/transport";
import type { ClientOptions } from "./options";
import { outcomeOf, type PostOutcome } from "./postOutcome";

export type { Front, Permit };

/** The query of GET /v2/instances. */
export interface PageQuery {
  /** The page size, from 1 to 100. */
  limit: number;
  status?: InstanceStatus;
  /** The cursor parameter (`compute:cursorParameter`) and its value. */
  cursor?: { parameter: string; value: string };
}

/**
 * One method for each call of the service's document, and for the destroy call that the user can configure. Except for
 * `createInstance`, they reject with a `RequestError`, or with the signal's reason if the signal ended the call.
 */
export interface ComputeApi {
  /** GET /v2/account. The document does not show the response, so any 2xx is accepted, unless its body is too long. */
  account(signal: AbortSignal): Promise<unknown>;

  /** GET /v2/instances. */
  listPage(query: PageQuery, signal: AbortSignal): Promise<Page>;

  /**
   * Waits until this POST is the next one. The front then waits until the rate limit allows it (G6). Each front has to be
   * disposed of, and each of its permits used or released.
   */
  reachPostFront(signal: AbortSignal): Promise<Front>;

  /**
   * Sends POST /v2/instances once, on a new connection (a create is never blindly retried, G2), and uses up the permit.
   * Never rejects. `unsent` cancels the call only as long as no byte was sent, `grace` at any time. The outcome is then
   * `notSent` if no byte was sent, and otherwise `unclear` (or `rateLimited`, if a 429 had begun to arrive).
   */
  createInstance(
    body: CreateBody,
    permit: Permit,
    signals: { unsent: AbortSignal; grace: AbortSignal },
  ): Promise<PostOutcome>;

  /** Sends DELETE to `compute:destroyPath`, which has to be set. A 404 is a `RequestError`, like any other error status. */
  destroyInstance(id: string, signal: AbortSignal): Promise<void>;

  /** Closes the connections that GETs and DELETEs share, each as soon as it is idle. Resolves when all are closed. */
  close(): Promise<void>;
}

/** Makes the client of the service. @throws Error if a proxy variable of the environment is not an address */
export function createClient(options: ClientOptions): ComputeApi {
  const { redact, destroyPath } = options;
  /** What the base address has before /v2, mostly nothing. */
  const pathPrefix = new URL(options.baseUrl).pathname.slice(0, -"/v2".length);
  const sender = new RequestSender(options);

  /** A request that `signal` cancels. */
  function requestTo(
    method: HttpRequest["method"],
    path: string,
    signal: AbortSignal,
  ): HttpRequest {
    const target = pathPrefix + path;
    const signals = { cancelUnsent: signal, cancelSent: signal };
    return { method, path, endpoint: path, target, redact, ...signals };
  }

  return {
    account: (signal) =>
      sender.send({ request: requestTo("GET", paths.account, signal), read: readAccount }),

    listPage({ limit, status, cursor }, signal) {
      const query = new URLSearchParams({ limit: String(limit) });
      if (status) query.set("status", status);
      if (cursor) query.set(cursor.parameter, cursor.value);
      const target = `${pathPrefix}${paths.instances}?${query.toString()}`;
      const request = requestTo("GET", paths.instances, signal);
      return sender.send({ request: { ...request, target }, read: readAs(tolerant.page) });
    },

    reachPostFront: (signal) => sender.reachFront("POST", paths.instances, signal),

    async createInstance(body, permit, { unsent, grace }) {
      const signal = AbortSignal.any([unsent, grace]);
      try {
        const request = {
          ...requestTo("POST", paths.instances, signal),
          cancelSent: grace,
          body: JSON.stringify(body),
          hasUserData: body.user_data !== undefined,
        };
        const read = readAs(tolerant.accepted);
        const accepted = await sender.send({ request, read, permit });
        return { kind: "accepted", accepted };
      } catch (error) {
        return outcomeOf(error, signal);
      } finally {
        permit.release();
      }
    },

    async destroyInstance(id, signal) {
      if (!destroyPath) throw new Error("compute:destroyPath is not set");
      const pathOf = (segment: string) => destroyPath.replaceAll("{id}", () => segment);
      // Such an id can't be a segment of a path.
      if (["", ".", ".."].includes(id) || !id.isWellFormed()) {
        const cause = "this id can't be part of a path";
        const path = pathOf(id);
        throw new RequestError({ kind: "unsendable", method: "DELETE", path, cause });
      }
      const path = pathOf(encodeURIComponent(id));
      const request = requestTo("DELETE", path, signal);
      await sender.send({ request: { ...request, endpoint: destroyPath }, read: () => undefined });
    },

    close: () => sender.close(),
  };
}
