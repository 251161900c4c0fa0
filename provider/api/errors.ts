/**
 * One class for every way a request to the service can fail. What callers decide on are two
 * questions: what kind of failure it is, and whether the service may have acted all the same.
 */

export type FailureKind =
  /** No request can be made of what was asked for. */
  | "unsendable"
  /** No connection was made: not one byte of the request left this machine. */
  | "unreachable"
  /** Sent, and no whole answer came: reset, time-out, cut body. */
  | "unanswered"
  /** An answer came that is not what the document says: not JSON, wrong types, too large. */
  | "unreadable"
  /** An answer with an error status (4xx, 5xx), or a redirect, which is never followed. */
  | "answered";

/** The fields of the error envelope ("Errors"); each may be missing in a real answer. */
export interface ServiceError {
  code?: string | undefined;
  message?: string | undefined;
  docUrl?: string | undefined;
  requestId?: string | undefined;
}

export interface RequestFailure {
  kind: FailureKind;
  method: string;
  /** Path only, never the whole address. */
  path: string;
  /** What happened, in words a person can use; already cleaned and redacted. */
  cause: string;
  /** HTTP status, when an answer came. */
  status?: number | undefined;
  service?: ServiceError | undefined;
  /** Seconds change nothing about it: a certificate that proves nothing now won't on the next try. */
  lasting?: boolean;
}

export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly kind: FailureKind;
  readonly method: string;
  readonly path: string;
  readonly status: number | undefined;
  /** Empty where the answer carried no error envelope. */
  readonly service: ServiceError;
  readonly lasting: boolean;

  constructor(failure: RequestFailure, options?: ErrorOptions) {
    super(describe(failure), options);
    this.kind = failure.kind;
    this.method = failure.method;
    this.path = failure.path;
    this.status = failure.status;
    this.service = failure.service ?? {};
    this.lasting = failure.lasting ?? false;
  }

  /** Whether the answer carried the document's error envelope. */
  get hasEnvelope(): boolean {
    return this.service.code !== undefined || this.service.message !== undefined;
  }

  /** Worth asking again, for a request that changes nothing. */
  get transient(): boolean {
    if (this.kind !== "answered") return this.kind !== "unsendable";
    return this.status === 408 || this.status === 429 || (this.status ?? 0) >= 500;
  }
}

function describe({ method, path, cause, status, service }: RequestFailure): string {
  const what = `${method} ${path}: ${cause}`;
  const details = [
    status === undefined ? undefined : `HTTP ${status}`,
    service?.code && `code ${service.code}`,
    service?.requestId && `request_id ${service.requestId}`,
    service?.docUrl && `see ${service.docUrl}`,
  ].filter(Boolean);
  return details.length ? `${what} (${details.join(", ")})` : what;
}
