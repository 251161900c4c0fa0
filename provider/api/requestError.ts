/** The error of a failed request. By its fields, the whole provider decides what to do after a failure. */

/** How a request failed, which shows whether the service may have acted. */
export type FailureKind =
  /** The request could not be formed. Nothing was sent. */
  | "unsendable"
  /** No usable connection was made, so no byte of the request left this machine. */
  | "unreachable"
  /** The request was sent, but no complete response was read (a reset, a time-out, a cut body, a cancelled POST). */
  | "unanswered"
  /** The body is too long, or that of a 2xx is not as documented (not JSON, or wrong types). */
  | "unreadable"
  /** The response has a status other than 2xx. This includes a redirect, which is never followed. */
  | "answered";

/** The fields of the error envelope (section "Error envelope"). Each may be missing in a real response. */
export interface ServiceError {
  code?: string | undefined;
  message?: string | undefined;
  docUrl?: string | undefined;
  requestId?: string | undefined;
}

/** What the advice for a failed request says of the settings of a run. It depends on where the run has them from. */
export interface SettingWords {
  /** Returns what messages call a setting that a person may have to change. */
  readonly toChange: (name: "baseUrl" | "requestTimeoutSeconds" | "destroyPath") => string;
  /** Returns how the run gets a valid token: a clause. */
  readonly wayToValidToken: () => string;
}

/** The argument of the constructor of `RequestError`. */
interface RequestFailure extends Knowledge {
  kind: FailureKind;
  method: string;
  path: string;
  /** What happened, in words for the user, already redacted. */
  cause: string;
  /** The cause in few words, where kind and status say too little. */
  short?: string | undefined;
  status?: number | undefined;
  retryAfterMs?: number | undefined;
  service?: ServiceError | undefined;
  lasting?: boolean | undefined;
}

/** What only the sender of the request knows. */
interface Knowledge {
  /** By default, whether this try may have made the service act. */
  mayHaveActed?: boolean;
  tokenRenewed?: boolean;
  words?: SettingWords | undefined;
}

/** The short form of an answer that is a page for people. */
export const htmlPage = "an HTML page";
/** The short form of an answer that somebody has encoded, although no request asks for that. */
export const encodedAnswer = "an encoded answer";

/** The short form of a failure of which no more is known. */
const shortly: Readonly<Record<FailureKind, string>> = {
  unsendable: "request not sent",
  unreachable: "no connection",
  unanswered: "no answer",
  unreadable: "unreadable answer",
  answered: "error answer",
};

/** A request that failed. The message has the method, the path, the cause, the status and the error envelope's fields. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly kind: FailureKind;
  readonly method: string;
  /** The path, never the whole address. */
  readonly path: string;
  /** The HTTP status, if the head of a response came. */
  readonly status: number | undefined;
  /** The wait from the answer on that its Retry-After asks for. */
  readonly retryAfterMs: number | undefined;
  /** The error envelope. An empty object if the response carried no envelope. */
  readonly service: ServiceError;
  /**
   * Whether a retry within seconds would fail as well, for example because of the certificate. It may still be `transient`: a wait
   * of minutes goes on, since a person may renew the certificate.
   */
  readonly lasting: boolean;
  /** Whether the service may have carried out the request in this try or (`request.ts`) an earlier one. */
  readonly mayHaveActed: boolean;
  /** Whether the service refused the token, and the client has a new one since. Then the request can be sent again. */
  readonly tokenRenewed: boolean;
  readonly #failure: RequestFailure;

  constructor(failure: RequestFailure, options?: ErrorOptions) {
    const { kind, method, path, cause, status, service = {}, lasting = false } = failure;
    const details = [
      status && `HTTP ${status}`,
      service.code && `code ${service.code}`,
      service.requestId && `request_id ${service.requestId}`,
      service.docUrl && `see ${service.docUrl}`,
    ].filter(Boolean);
    const inBrackets = details.length > 0 ? ` (${details.join(", ")})` : "";
    super(`${method} ${path}: ${cause}${inBrackets}`, options);
    this.kind = kind;
    this.method = method;
    this.path = path;
    this.status = status;
    this.retryAfterMs = failure.retryAfterMs;
    this.service = service;
    this.lasting = lasting;
    const mayHaveActed = this.transient && kind !== "unreachable" && status !== 429;
    this.mayHaveActed = failure.mayHaveActed ?? mayHaveActed;
    this.tokenRenewed = failure.tokenRenewed ?? false;
    this.#failure = failure;
  }

  /** The same error, with what the sender of the request knows besides. */
  with(knowledge: Knowledge): RequestError {
    return new RequestError({ ...this.#failure, ...knowledge }, { cause: this.cause });
  }

  /** The message without the request_id, which differs from request to request. */
  get commonMessage(): string {
    return this.message.replace(this.service.requestId ?? "", "");
  }

  /** As in `ClientOptions`. */
  get words(): SettingWords | undefined {
    return this.#failure.words;
  }

  /** What happened, in few words: the HTTP status, or "connection refused". */
  get short(): string {
    const { short, kind, status } = this.#failure;
    return short ?? (kind === "answered" && status !== undefined ? `${status}` : shortly[kind]);
  }

  /** Whether the response carried an error envelope with a code or a message. */
  get hasEnvelope(): boolean {
    return this.service.code !== undefined || this.service.message !== undefined;
  }

  /** Whether the service has refused what the request asks for, and neither its token nor its address. */
  get isAboutRequest(): boolean {
    const { kind, transient, isTokenRefused, isScopeMissing, isNotFound, isElsewhere } = this;
    const isElse = transient || isTokenRefused || isScopeMissing || isNotFound || isElsewhere;
    return kind === "answered" && !isElse;
  }

  /** Whether the service answered that it has no such thing, or no such call. */
  get isNotFound(): boolean {
    return this.status === 404 || this.status === 410;
  }

  /** Whether the address may not be the service's: it redirects, or has no such call, although the service documents each GET. */
  get isElsewhere(): boolean {
    const { kind, status = 0, method, isNotFound } = this;
    const isLacking = status === 405 || (isNotFound && method === "GET");
    return kind === "answered" && (status < 400 || isLacking);
  }

  /** Whether the service refused the token, which is invalid, expired or revoked (section "Authentication"). */
  get isTokenRefused(): boolean {
    return this.kind === "answered" && this.status === 401;
  }

  /** Whether the token lacks the scope for the call. */
  get isScopeMissing(): boolean {
    return this.kind === "answered" && this.status === 403;
  }

  /** Whether the answer is the service's own. It refuses a token only at its address. */
  get isOfService(): boolean {
    return this.isTokenRefused || this.isScopeMissing || this.hasEnvelope;
  }

  /** Whether nothing answers at the address. */
  get isNobodyThere(): boolean {
    return this.short === "host name not found" || this.short === "connection refused";
  }

  /** Whether a page for people came instead of JSON. */
  get isPage(): boolean {
    return this.kind === "unreadable" && this.short === htmlPage;
  }

  /** Whether the answer is in an encoding that no request asks for. */
  get isEncoded(): boolean {
    return this.short === encodedAnswer;
  }

  /** Whether it is not the time of a certificate by this machine's clock. */
  get isOutOfTime(): boolean {
    return this.short === "expired certificate" || this.short === "certificate not yet valid";
  }

  /** Whether the request is too large for the service, or for a proxy before it. */
  get isTooLarge(): boolean {
    return this.kind === "answered" && this.status === 413;
  }

  /** Whether the service wants to be left alone for a while, and can say for how long. */
  get asksForPause(): boolean {
    return this.status === 429 || (this.status === 503 && this.retryAfterMs !== undefined);
  }

  /** Whether the fault is at the service. */
  get isFaultOfService(): boolean {
    return (this.status ?? 0) >= 500;
  }

  /** Whether other settings may prevent the error, which is then not within the service. */
  get isAboutSettings(): boolean {
    return !this.transient || this.kind === "unreachable" || this.kind === "unreadable";
  }

  /** Whether the same request may succeed later. This does not say that sending it again is safe. */
  get transient(): boolean {
    if (this.kind !== "answered") return this.kind !== "unsendable";
    return this.status === 408 || this.status === 429 || this.isFaultOfService;
  }
}
