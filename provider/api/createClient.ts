/**
 * The client of the service. Loading this module loads undici and zod, so the plugin imports it when
 * it makes its first request.
 */
import type { ClientOptions, ComputeApi, CreatePermit, PageQuery } from "./client";
import { paths } from "./contract";
import { RequestError } from "./errors";
import { addressOf } from "./http/address";
import { type Read, readAccepted, readAccount, readNothing, readPage } from "./http/answers";
import { Connections } from "./http/connections";
import { debugLog } from "./http/debugLog";
import { redactUserData } from "./http/echo";
import { type HttpRequest, chain } from "./http/exchange";
import { pace } from "./http/pace";
import { Permit, RateLimit } from "./http/rateLimit";
import { throwOnErrorStatus } from "./http/refuseErrors";
import { withRetry } from "./http/retry";
import { send } from "./http/send";
import { outcomeOf } from "./postOutcome";

const MiB = 1024 * 1024;

/** @throws when a proxy variable cannot be used. */
export function createClient(options: ClientOptions): ComputeApi {
  const { redact, clock, destroyPath } = options;
  const address = addressOf(options.baseUrl);
  const connections = new Connections(address, options);

  const limit = new RateLimit(options);

  // The order of the links, outermost first. Around them come the reading of the answer and, but for a
  // POST, withRetry.
  const exchange = chain(
    [throwOnErrorStatus(address.origin), pace(limit, clock), debugLog(options)],
    send(address, connections, options),
  );
  function request<T>(call: HttpRequest, read: Read<T>): Promise<T> {
    return withRetry(call, async () => read(await exchange(call), call), options);
  }

  function callOf(
    method: HttpRequest["method"],
    path: string,
    signal: AbortSignal,
    more: Partial<HttpRequest> = {},
  ): HttpRequest {
    const target = address.prefix + path;
    const signals = { unsent: signal, underWay: signal };
    return { method, path, endpoint: path, target, maxBytes: MiB, redact, ...signals, ...more };
  }

  return {
    account: (signal) => request(callOf("GET", paths.account, signal), readAccount),

    listPage(query, signal) {
      const target = `${address.prefix}${paths.instances}?${search(query)}`;
      const call = callOf("GET", paths.instances, signal, { target, maxBytes: 8 * MiB });
      return request(call, readPage);
    },

    createPermit: (signal) => limit.enter("POST", paths.instances, signal),

    async createInstance(body, permit, { unsent, grace }) {
      const signal = AbortSignal.any([unsent, grace]);
      try {
        const call = callOf("POST", paths.instances, signal, {
          underWay: grace,
          permit: ownPermit(permit),
          body: JSON.stringify(body),
          redact: redactUserData(body, redact),
        });
        return { kind: "accepted", accepted: readAccepted(await exchange(call), call) };
      } catch (error) {
        return outcomeOf(error, signal);
      } finally {
        permit.release();
      }
    },

    async destroyInstance(id, signal) {
      if (!destroyPath) throw new Error("compute:destroyPath is not set");
      const path = destroyPath.replace("{id}", () => pathSegment(id, destroyPath));
      const more = { endpoint: destroyPath, statusIsEnough: true };
      await request(callOf("DELETE", path, signal, more), readNothing);
    },

    close: () => connections.close(),
  };
}

/** @throws where it is none of `createPermit`: without one nothing is sent. */
function ownPermit(permit: CreatePermit): Permit {
  if (permit instanceof Permit) return permit;
  const cause = "its permit is none of this client";
  throw new RequestError({ kind: "unsendable", method: "POST", path: paths.instances, cause });
}

function search({ limit, status, cursor }: PageQuery): string {
  const query = new URLSearchParams({ limit: String(limit) });
  if (status) query.set("status", status);
  if (cursor) query.set(cursor.parameter, cursor.value);
  return query.toString();
}

/** An id is the service's word: one that would lead to another path is not used. */
function pathSegment(id: string, destroyPath: string): string {
  if (id && id !== "." && id !== ".." && id.isWellFormed()) return encodeURIComponent(id);
  throw new RequestError({
    kind: "unsendable",
    method: "DELETE",
    path: destroyPath.replace("{id}", () => id),
    cause: "this id can't be part of a path",
  });
}
