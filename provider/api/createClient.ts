/**
 * The client of the service. Loading this module loads undici and zod, so the plugin imports it when
 * it makes its first request.
 */
import type { ClientOptions, ComputeApi, PageQuery } from "./client";
import { paths } from "./contract";
import { RequestError } from "./errors";
import { addressOf } from "./http/address";
import { type Read, readAccepted, readAccount, readNothing, readPage } from "./http/answers";
import { Connections } from "./http/connections";
import { debugLog } from "./http/debugLog";
import { hideUserData } from "./http/echo";
import { type Call, chain } from "./http/exchange";
import { heads } from "./http/heads";
import { pace } from "./http/pace";
import { redirects } from "./http/redirects";
import { refuseErrors } from "./http/refuseErrors";
import { withRetry } from "./http/retry";
import { send } from "./http/send";

const MiB = 1024 * 1024;

/** @throws when `baseUrl` or a proxy variable cannot be used. */
export function createClient(options: ClientOptions): ComputeApi {
  const { clean, destroyPath } = options;
  const address = addressOf(options.baseUrl);
  const connections = new Connections(address, options.env, options.requestTimeoutMs);

  // The order of the links, outermost first: withRetry, the reading of the answer, and then these.
  const exchange = chain(
    [refuseErrors, redirects(address), pace(options), debugLog(options), heads(options)],
    send({ ...options, address, connections }),
  );
  function request<T>(call: Call, read: Read<T>): Promise<T> {
    return withRetry(call, async () => read(await exchange(call), call), options);
  }

  function callOf(
    method: Call["method"],
    path: string,
    signal: AbortSignal,
    more: Partial<Call> = {},
  ): Call {
    const target = address.toTarget(path);
    const signals = { unsent: signal, underWay: signal };
    return { method, path, endpoint: path, target, maxBytes: MiB, clean, ...signals, ...more };
  }

  return {
    account: (signal) => request(callOf("GET", paths.account, signal), readAccount),

    listPage(query, signal) {
      const target = `${address.toTarget(paths.instances)}?${search(query)}`;
      const call = callOf("GET", paths.instances, signal, { target, maxBytes: 8 * MiB });
      return request(call, readPage);
    },

    createInstance(body, { unsent, grace }, turn) {
      const call = callOf("POST", paths.instances, AbortSignal.any([unsent, grace]), {
        underWay: grace,
        turn,
        body: JSON.stringify(body),
        clean: hideUserData(body, clean),
      });
      return request(call, readAccepted);
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
