/**
 * The outcome of a POST as a value: the service's answer, and whether the service may have made an instance. The
 * create protocol uses the outcome, so that an unclear create is never blindly retried (G2).
 */
import type { WireNetwork } from "./contract";
import { RequestError } from "./errors";
import { paths } from "./serviceConstants";

/** The readable fields of the response to an accepted POST /v2/instances, which is documented as a 202. */
export interface Accepted {
  id: string;
  name?: string | undefined;
  status?: string | undefined;
  createdAt?: string | undefined;
  networks: WireNetwork[];
}

/** The outcome of one POST. */
export type PostOutcome =
  | { kind: "accepted"; accepted: Accepted }
  /**
   * No byte was sent. A `RequestError` that is `lasting` says that a retry within seconds would fail as well. Any
   * other error is the reason of the signal that cancelled the POST.
   */
  | { kind: "notSent"; failure: RequestError | Error }
  /**
   * The service made nothing, and the POST can be sent again with another permit. Either the service answered with a 429,
   * and the client's own rate limit delays the next POST. Or the service refused the token, and the client has a new one.
   */
  | { kind: "rateLimited"; failure: RequestError }
  /** The service refused with a 4xx and the error envelope of its API document, and made nothing. */
  | { kind: "refused"; failure: RequestError }
  /** Whether an instance was made is not known. */
  | { kind: "unclear"; failure: RequestError };

/** The 4xx statuses, other than 429, that don't show whether the service has acted. */
const unclear4xx: ReadonlySet<number> = new Set([408, 409, 425, 499]);

/**
 * Returns the outcome of a POST that ended with `error`. The transport rejects with the reason of `cancelSignal` only if
 * no byte was sent. Any other error that is not a `RequestError` is a defect of the provider, and whether the POST was
 * sent before the defect is not known.
 */
export function outcomeOf(
  error: unknown,
  cancelSignal: AbortSignal,
): Exclude<PostOutcome, { kind: "accepted" }> {
  if (cancelSignal.aborted && error === cancelSignal.reason) {
    return { kind: "notSent", failure: error instanceof Error ? error : new Error(String(error)) };
  }
  if (!(error instanceof RequestError)) {
    const cause = `a defect of the provider: ${error instanceof Error ? error.message : String(error)}`;
    const failure = { kind: "unanswered", method: "POST", path: paths.instances, cause } as const;
    return { kind: "unclear", failure: new RequestError(failure, { cause: error }) };
  }
  const { kind, status = 0 } = error;
  // The request could not be formed, its permit was not valid, or no connection was made.
  if (kind === "unsendable" || kind === "unreachable") return { kind: "notSent", failure: error };
  if (kind !== "answered") return { kind: "unclear", failure: error };
  if (status === 429 || error.tokenRenewed) return { kind: "rateLimited", failure: error };
  const isRefusal = status >= 400 && status < 500 && !unclear4xx.has(status) && error.hasEnvelope;
  return { kind: isRefusal ? "refused" : "unclear", failure: error };
}

/** Whether the service answered with a 500, 502 or 503, which say that the service itself failed. */
export function answeredBroken({ kind, status }: RequestError): boolean {
  return kind === "answered" && (status === 500 || status === 502 || status === 503);
}
