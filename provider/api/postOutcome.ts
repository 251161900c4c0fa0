/** What a POST came to, as a value: what the service answered, and whether it may have acted (G2). */
import type { WireNetwork } from "./contract";
import { RequestError } from "./errors";

/** The 202 of POST /v2/instances. */
export interface Accepted {
  id: string;
  name?: string | undefined;
  status?: string | undefined;
  createdAt?: string | undefined;
  networks: WireNetwork[];
}

export type PostOutcome =
  | { kind: "accepted"; accepted: Accepted }
  /** Not one byte was sent. `lasting` of a `RequestError`: a retry within seconds would fail as well. */
  | { kind: "notSent"; failure: RequestError | Error }
  /** A 429: nothing was made. The rate limit knows, and holds the next permit back. */
  | { kind: "rateLimited"; failure: RequestError }
  /** The service says, by the document's error envelope, that it made nothing. */
  | { kind: "refused"; failure: RequestError }
  /** An instance may have been made or not. */
  | { kind: "unclear"; failure: RequestError };

/** Of the 4xx, those that say nothing about whether the service has acted. */
const open4xx: ReadonlySet<number> = new Set([408, 409, 425, 429, 499]);

/**
 * The outcome of a POST that ended with `error`. `unsent` is the signal that stopped it as long as nothing
 * was sent: its reason is the error then. Any other error that is no `RequestError` is a defect of ours;
 * whether the request was sent by then is not known.
 */
export function outcomeOf(
  error: unknown,
  unsent: AbortSignal,
): Exclude<PostOutcome, { kind: "accepted" }> {
  if (!(error instanceof RequestError)) {
    if (unsent.aborted && error === unsent.reason) {
      return {
        kind: "notSent",
        failure: error instanceof Error ? error : new Error(String(error)),
      };
    }
    return { kind: "unclear", failure: defect(error) };
  }
  const { kind, status = 0 } = error;
  if (kind === "unsendable" || kind === "unreachable") return { kind: "notSent", failure: error };
  if (kind !== "answered") return { kind: "unclear", failure: error };
  if (status === 429) return { kind: "rateLimited", failure: error };
  const refuses = status >= 400 && status < 500 && !open4xx.has(status) && error.hasEnvelope;
  return { kind: refuses ? "refused" : "unclear", failure: error };
}

/** Whether the service answered, and said that it failed: 500, 502 or 503. */
export function answeredBroken({ kind, status }: RequestError): boolean {
  return kind === "answered" && (status === 500 || status === 502 || status === 503);
}

function defect(error: unknown): RequestError {
  const cause = `a defect of the provider: ${error instanceof Error ? error.message : String(error)}`;
  const where = { method: "POST", path: "/v2/instances" };
  return new RequestError({ kind: "unanswered", ...where, cause }, { cause: error });
}
