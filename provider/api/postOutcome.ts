/** The outcome of a POST as a value: the service's answer, and whether the service may have made an instance. */
import type { Accepted } from "./contract";
import { RequestError } from "./requestError";
import { paths } from "./serviceConstants";

/** The outcome of one POST. */
export type PostOutcome = { kind: "accepted"; accepted: Accepted } | FailedPost;

type FailedPost =
  /** No byte was sent. A `failure` that is no `RequestError` is the reason of the signal that cancelled the POST. */
  | { kind: "notSent"; failure: Error }
  /** Nothing was made, and the POST can be sent again with another permit: after a 429, or with a renewed token. */
  | { kind: "rateLimited"; failure: RequestError }
  /** Nothing was made: the answer is a 4xx with the documented error envelope, or refuses to read the request. */
  | { kind: "refused"; failure: RequestError }
  /** Whether an instance was made is not known. */
  | { kind: "unclear"; failure: RequestError };

/** The 4xx statuses, other than 429, that don't show whether the service has acted. */
const unclear4xx: readonly number[] = [408, 409, 425, 499];
/** Those that refuse to read a request, whatever the body. They may come from a proxy. */
const unread4xx: readonly number[] = [411, 413, 414, 415, 431];

/**
 * Returns the outcome of a POST that ended with `error`: the reason of `cancelSignal` only if no byte was sent. Any other
 * error than a `RequestError` is a defect of the provider, which may have come after the POST was sent.
 */
export function outcomeOf(error: unknown, cancelSignal: AbortSignal): FailedPost {
  if (cancelSignal.aborted && error === cancelSignal.reason) {
    return { kind: "notSent", failure: error as Error };
  }
  if (!(error instanceof RequestError)) {
    const cause = `a defect of the provider: ${error instanceof Error ? error.message : String(error)}`;
    const failure = { kind: "unanswered", method: "POST", path: paths.instances, cause } as const;
    return { kind: "unclear", failure: new RequestError(failure, { cause: error }) };
  }
  const { kind, status = 0 } = error;
  if (kind === "unsendable" || kind === "unreachable") return { kind: "notSent", failure: error };
  if (kind !== "answered") return { kind: "unclear", failure: error };
  if (status === 429 || error.tokenRenewed) return { kind: "rateLimited", failure: error };
  const isClear4xx = status >= 400 && status < 500 && !unclear4xx.includes(status);
  const isRefused = isClear4xx && (error.hasEnvelope || unread4xx.includes(status));
  return { kind: isRefused ? "refused" : "unclear", failure: error };
}

/** Returns the error of an answer 202 with the id of an instance that existed before the POST, or is another create's. */
export function knownIdError(id: string): RequestError {
  const cause = `the service answered with instance ${id}, which existed before this create or belongs to another one, so the answer does not say what was created`;
  return new RequestError({
    kind: "unreadable",
    method: "POST",
    path: paths.instances,
    status: 202,
    cause,
  });
}

/** Whether the service answered with a 500, 502 or 503, which say that the service itself failed. */
export function answeredBroken({ kind, status }: RequestError): boolean {
  return kind === "answered" && [500, 502, 503].includes(status ?? 0);
}
