/** The outcome of a POST as a value: what the service answered, and whether it may have acted (G2). */
import type { WireNetwork } from "./contract";
import { RequestError } from "./errors";
import { paths } from "./serviceConstants";

/** The 202 of POST /v2/instances. */
export interface Accepted {
  id: string;
  name?: string | undefined;
  status?: string | undefined;
  createdAt?: string | undefined;
  networks: WireNetwork[];
}

/** What became of one POST. */
export type PostOutcome =
  | { kind: "accepted"; accepted: Accepted }
  /** Not one byte was sent. `lasting` of a `RequestError`: a retry within seconds would fail as well. */
  | { kind: "notSent"; failure: RequestError | Error }
  /** A 429: nothing was made. The rate limit knows of it, and holds the next permit back. */
  | { kind: "rateLimited"; failure: RequestError }
  /** The service says, by the document's error envelope, that it made nothing. */
  | { kind: "refused"; failure: RequestError }
  /** An instance may have been made or not. */
  | { kind: "unclear"; failure: RequestError };

/** The 4xx that don't say whether the service has acted. */
const unclear4xx: ReadonlySet<number> = new Set([408, 409, 425, 429, 499]);

/**
 * The outcome of a POST that ended with `error`. `unsent` is the signal that cancelled it while nothing was
 * sent: the error is its reason then. Any other error that is no `RequestError` is a defect of the
 * provider, and whether the POST was sent by then is not known.
 */
export function outcomeOf(
  error: unknown,
  unsent: AbortSignal,
): Exclude<PostOutcome, { kind: "accepted" }> {
  if (unsent.aborted && error === unsent.reason) {
    return { kind: "notSent", failure: error instanceof Error ? error : new Error(String(error)) };
  }
  if (!(error instanceof RequestError)) {
    const cause = `a defect of the provider: ${error instanceof Error ? error.message : String(error)}`;
    const failure = { kind: "unanswered", method: "POST", path: paths.instances, cause } as const;
    return { kind: "unclear", failure: new RequestError(failure, { cause: error }) };
  }
  const { kind, status = 0 } = error;
  if (kind === "unsendable" || kind === "unreachable") return { kind: "notSent", failure: error };
  if (kind !== "answered") return { kind: "unclear", failure: error };
  if (status === 429) return { kind: "rateLimited", failure: error };
  const isRefusal = status >= 400 && status < 500 && !unclear4xx.has(status) && error.hasEnvelope;
  return { kind: isRefusal ? "refused" : "unclear", failure: error };
}

/** Whether the service answered, and said that it failed: 500, 502 or 503. */
export function answeredBroken({ kind, status }: RequestError): boolean {
  return kind === "answered" && (status === 500 || status === 502 || status === 503);
}
