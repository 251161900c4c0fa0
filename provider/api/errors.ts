/** The one error class for requests to the service. */

/** How a request failed, and with that whether the service may have acted. */
export type FailureKind =
  /** No request can be made of what was asked for. */
  | "unsendable"
  /** No connection was made: not one byte of the request left this machine. */
  | "unreachable"
  /** Sent, and no whole response came: reset, time-out, cut body. */
  | "unanswered"
  /** A response came that is not what the document says: not JSON, wrong types, too large. */
  | "unreadable"
  /** A response with an error status (4xx, 5xx), or a redirect, which is never followed. */
  | "answered";

/** The fields of the error envelope ("Error envelope"); each may be missing in a real response. */
export interface ServiceError {
  code?: string | undefined;
  message?: string | undefined;
  docUrl?: string | undefined;
  requestId?: string | undefined;
}

/** What a `RequestError` is made of. */
export interface RequestFailure {
  kind: FailureKind;
  method: string;
  /** Path only, never the whole address. */
  path: string;
  /** What happened, in words a person can use; already redacted. */
  cause: string;
  /** HTTP status, if a response came. */
  status?: number | undefined;
  service?: ServiceError | undefined;
  /** A retry within seconds would fail as well, for example because of the certificate. */
  lasting?: boolean;
}

/** A request that failed. Its message names method, path, cause, and what the service said. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly kind: FailureKind;
  readonly method: string;
  readonly path: string;
  readonly status: number | undefined;
  /** Empty if the response carried no error envelope. */
  readonly service: ServiceError;
  readonly lasting: boolean;

  constructor(failure: RequestFailure, options?: ErrorOptions) {
    super(messageOf(failure), options);
    this.kind = failure.kind;
    this.method = failure.method;
    this.path = failure.path;
    this.status = failure.status;
    this.service = failure.service ?? {};
    this.lasting = failure.lasting ?? false;
  }

  /** Whether the response carried the document's error envelope. */
  get hasEnvelope(): boolean {
    return this.service.code !== undefined || this.service.message !== undefined;
  }

  /** Whether a retry may succeed, for a request that changes nothing. */
  get transient(): boolean {
    if (this.kind !== "answered") return this.kind !== "unsendable";
    return this.status === 408 || this.status === 429 || (this.status ?? 0) >= 500;
  }
}

function messageOf({ method, path, cause, status, service }: RequestFailure): string {
  const details = [
    status && `HTTP ${status}`,
    service?.code && `code ${service.code}`,
    service?.requestId && `request_id ${service.requestId}`,
    service?.docUrl && `see ${service.docUrl}`,
  ].filter(Boolean);
  return `${method} ${path}: ${cause}${details.length > 0 ? ` (${details.join(", ")})` : ""}`;
}
