/** Makes the client of the service. Loads undici and zod, so it is imported when the first request is made. */
import type { ClientOptions, ComputeApi, PageQuery } from "./client";
import { paths } from "./contract";
import { RequestError } from "./errors";
import { type Permit, createRateLimit } from "./http/rateLimit";
import { redactUserData } from "./http/redactUserData";
import { createSend } from "./http/request";
import { readAccepted, readAccount, readPage } from "./http/response";
import { type HttpRequest, createTransport } from "./http/transport";
import { outcomeOf } from "./postOutcome";

/** @throws Error if a proxy variable of the environment is not an address */
export function createClient(options: ClientOptions): ComputeApi {
  const { redact, destroyPath } = options;
  const baseUrl = new URL(options.baseUrl);
  /** What the base address has before /v2, mostly nothing. */
  const pathPrefix = baseUrl.pathname.slice(0, -"/v2".length);
  const acquirePermit = createRateLimit(options);
  const transport = createTransport(baseUrl, options);
  const send = createSend(options, acquirePermit, transport);

  /** A request that `signal` cancels. The fields in `more` replace the default ones. */
  function requestTo(
    method: HttpRequest["method"],
    path: string,
    signal: AbortSignal,
    more: Partial<HttpRequest> = {},
  ): HttpRequest {
    const target = pathPrefix + path;
    const signals = { cancelUnsent: signal, cancelSent: signal };
    return { method, path, endpoint: path, target, redact, ...signals, ...more };
  }

  return {
    account: (signal) => send(requestTo("GET", paths.account, signal), readAccount),

    listPage(query, signal) {
      const target = `${pathPrefix}${paths.instances}?${queryString(query)}`;
      return send(requestTo("GET", paths.instances, signal, { target }), readPage);
    },

    acquirePostPermit: (signal) => acquirePermit("POST", paths.instances, signal),

    async createInstance(body, permit, { unsent, grace }) {
      const signal = AbortSignal.any([unsent, grace]);
      try {
        const request = requestTo("POST", paths.instances, signal, {
          cancelSent: grace,
          body: JSON.stringify(body),
          redact: redactUserData(body, redact),
        });
        // The permit is from `acquirePostPermit`, which returns only `Permit`s.
        const accepted = await send(request, readAccepted, permit as Permit);
        return { kind: "accepted", accepted };
      } catch (error) {
        return outcomeOf(error, signal);
      } finally {
        permit.release();
      }
    },

    async destroyInstance(id, signal) {
      if (!destroyPath) throw new Error("compute:destroyPath is not set");
      const path = destroyPath.replace("{id}", () => pathSegment(id, destroyPath));
      const request = requestTo("DELETE", path, signal, { endpoint: destroyPath });
      await send(request, () => undefined);
    },

    close: () => transport.close(),
  };
}

function queryString({ limit, status, cursor }: PageQuery): string {
  const query = new URLSearchParams({ limit: String(limit) });
  if (status) query.set("status", status);
  if (cursor) query.set(cursor.parameter, cursor.value);
  return query.toString();
}

/** @throws RequestError (`unsendable`) if the id can't be a segment of a path */
function pathSegment(id: string, destroyPath: string): string {
  if (id && id !== "." && id !== ".." && id.isWellFormed()) return encodeURIComponent(id);
  throw new RequestError({
    kind: "unsendable",
    method: "DELETE",
    path: destroyPath.replace("{id}", () => id),
    cause: "this id can't be part of a path",
  });
}
