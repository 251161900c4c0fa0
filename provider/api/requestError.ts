/** The error of a failed request. By its fields, the whole provider decides what to do after a failure. */
import { isOutOfTime } from "../networkCodes";

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

/** What a failure is about: it decides what a person can do (`nextStep`). */
export type About =
  /** By this machine's clock, it is not the time of a certificate. */
  | "certificate"
  /** The address, the network or the proxy. */
  | "way"
  /** No complete response came in time. */
  | "silence"
  /** The answer is in an encoding that no request asks for. */
  | "encoding"
  /** The answer is not as documented. */
  | "form"
  /** The address may not be the service's: it redirects, or has no such call. */
  | "elsewhere"
  /** The token is invalid, expired or revoked (section "Authentication"). */
  | "token"
  /** The token lacks the scope for the call. */
  | "scope"
  /** The service has no such thing, or no such call. */
  | "absence"
  /** The request is too large for the service, or for a proxy before it. */
  | "size"
  /** The service wants to be left alone for a while, and can say for how long. */
  | "pause"
  /** The fault is at the service. */
  | "fault"
  /** The service has refused what the request asks for. */
  | "request";

const aboutOf4xx: Readonly<Record<number, About>> = {
  401: "token",
  403: "scope",
  404: "absence",
  405: "elsewhere",
  408: "silence",
  410: "absence",
  413: "size",
};

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
    this.#failure = failure;
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

  /** What the failure is about. */
  get about(): About {
    const { kind, method, short, status = 0 } = this;
    if (isOutOfTime(short)) return "certificate";
    if (status === 429 || (status === 503 && this.retryAfterMs !== undefined)) return "pause";
    switch (kind) {
      case "unsendable":
      case "unreachable":
        return "way";
      case "unanswered":
        return "silence";
      case "unreadable":
        return short === encodedAnswer ? "encoding" : "form";
      case "answered": {
        if (status < 400) return "elsewhere";
        if (status >= 500) return "fault";
        const about = aboutOf4xx[status] ?? "request";
        // The service documents each GET.
        return about === "absence" && method === "GET" ? "elsewhere" : about;
      }
    }
  }

  /** Whether the service has refused what the request asks for, and neither its token nor its address. */
  get isRefusal(): boolean {
    return this.about === "request" || this.about === "size";
  }

  /** Whether the answer is a no, not about the validity of the token, that another try would get again. */
  get isFinalNo(): boolean {
    return this.kind === "answered" && !this.transient && this.about !== "token";
  }

  /** Whether the answer is the service's own. It refuses a token only at its address. */
  get isOfService(): boolean {
    return this.about === "token" || this.about === "scope" || this.hasEnvelope;
  }

  /** Whether nothing answers at the address. */
  get isNobodyThere(): boolean {
    return this.short === "host name not found" || this.short === "connection refused";
  }

  /** Whether a page for people came instead of JSON. */
  get isPage(): boolean {
    return this.kind === "unreadable" && this.short === htmlPage;
  }

  /** Whether other settings may prevent the error, which is then not within the service. */
  get isAboutSettings(): boolean {
    return !this.transient || this.kind === "unreachable" || this.kind === "unreadable";
  }

  /** Whether the same request may succeed later. This does not say that sending it again is safe. */
  get transient(): boolean {
    if (this.kind !== "answered") return this.kind !== "unsendable";
    return ["silence", "pause", "fault"].includes(this.about);
  }
}
