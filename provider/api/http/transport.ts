/**
 * Sends one HTTP request over undici. A failure says what is known for sure: whether a byte of the request left this
 * machine, and whether a response had begun.
 */
import { EnvHttpProxyAgent, type Dispatcher } from "undici";
import { notNeeded } from "../../abort";
import type { ClientOptions } from "../options";
import { RequestError } from "../errors";
import {
  isCertificateError,
  networkErrorMessage,
  shortNetworkError,
  type Stage,
} from "./networkError";
import { proxiesOf } from "./proxies";

/** A request on its way to the service. */
export interface HttpRequest {
  method: "GET" | "POST" | "DELETE";
  /** The path from /v2 on, with the id and without the query, as errors show it. */
  path: string;
  /** What the rate limit counts by: the path, or the template of a path with an id. */
  endpoint: string;
  /** The path with the base address's prefix, and the query, as they are sent. */
  target: string;
  /** JSON, never logged and never part of an error (no secret is shown, G8). */
  body?: string;
  /** Cancels the request as long as no byte of the request was sent. */
  cancelUnsent: AbortSignal;
  /** Cancels the wait for the response. */
  cancelSent: AbortSignal;
  /** Removes secrets from a text of the response. */
  redact: (text: string) => string;
  /** Whether the body has user data, a secret (G8) that a text of the response may repeat. No such text is shown then. */
  hasUserData?: boolean;
}

/** The part of a response that comes before its body. */
interface ResponseHead {
  status: number;
  /** Returns the first value of the header with this lower-case name. */
  header: (name: string) => string | undefined;
}

/** A response of the service. */
export interface HttpResponse extends ResponseHead {
  request: HttpRequest;
  /** The token that the request was sent with. */
  token: string;
  body: Buffer;
  /** Whether `body` holds only the beginning of the response body. */
  isTruncated: boolean;
}

/**
 * How long the connection to one of the host's addresses may take before the next one is tried. A lost packet is repeated after a
 * second. With Node's half a second, an address that needs longer would be given up in each try of a request.
 */
const attemptTimeoutMs = 2500;

/** The longest body that is read to its end. A page of 100 instances has about 20 kB. */
const maxBodyBytes = 8 * 1024 * 1024;

const missingAt: Readonly<Record<Stage, string>> = {
  connecting: "no connection to",
  sent: "no answer from",
  answering: "no complete answer from",
};

/** Makes what sends requests over undici. @throws Error if a proxy variable of the environment is not an address */
export function createTransport(options: ClientOptions) {
  const { clock, redact, requestTimeoutMs } = options;
  const baseUrl = new URL(options.baseUrl);
  const proxies = proxiesOf(baseUrl, options.env);
  const hasProxy = proxies.httpProxy !== "" || proxies.httpsProxy !== "";
  const checked = {
    // Otherwise NODE_TLS_REJECT_UNAUTHORIZED=0 would turn the check of certificates off, and the token could go to anybody (G8).
    rejectUnauthorized: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
  };
  const agentOptions = {
    connect: checked,
    requestTls: checked,
    proxyTls: checked,
    // With HTTP/2, undici itself repeats requests after a GOAWAY. A POST must never be repeated (G2).
    allowH2: false,
    connectTimeout: Math.min(10_000, requestTimeoutMs),
    // A proxy that is not named is an empty string. Otherwise undici would read `process.env`.
    ...proxies,
  };
  const createDispatcher = options.createDispatcher ?? (() => new EnvHttpProxyAgent(agentOptions));
  const sharedDispatcher = createDispatcher();

  return {
    /**
     * Sends the request with this token. Calls `onSend` when the first byte is about to leave. Rejects with a
     * `RequestError`, or with the reason of the signal that cancelled the request. A POST that is cancelled after `onSend`
     * rejects with a `RequestError`, because the service may have acted (G2). Resolves with a truncated body if the body is
     * too long (`maxBodyBytes`), or if the response breaks off after a 429, or after a 2xx to a DELETE.
     */
    async send(request: HttpRequest, token: string, onSend: () => void): Promise<HttpResponse> {
      // If the service resets an idle connection just when a POST is sent on it, nobody knows whether it has read the POST
      // (G2). So a POST opens a connection of its own.
      const postDispatcher = request.method === "POST" ? createDispatcher() : undefined;
      try {
        return await exchange(postDispatcher ?? sharedDispatcher, request, token, onSend);
      } finally {
        void postDispatcher?.destroy();
      }
    },

    close: () => sharedDispatcher.close(),
  };

  function exchange(
    dispatcher: Dispatcher,
    request: HttpRequest,
    token: string,
    onSend: () => void,
  ): Promise<HttpResponse> {
    const { method, path, body, cancelUnsent, cancelSent } = request;
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    /** Aborted when the outcome is known, which stops the time-out and the listeners below. */
    const settled = new AbortController();
    const { signal } = settled;
    /** Set when a connection exists and the first byte is about to leave. From then on the request counts as sent. */
    let controller: Dispatcher.DispatchController | undefined;
    let head: ResponseHead | undefined;
    const chunks: Buffer[] = [];
    let bodyBytes = 0;

    const stage = (): Stage => (head ? "answering" : controller ? "sent" : "connecting");
    /** Ends the exchange with its first outcome. Ignores what undici reports after that. */
    function settle(outcome: () => void): void {
      if (signal.aborted) return;
      settled.abort(notNeeded);
      outcome();
      // Closes the connection, which undici would keep for the response. Without effect on an exchange that has ended.
      controller?.abort(notNeeded);
    }
    function respond(isTruncated: boolean): void {
      const { status, header } = head ?? { status: 0, header: () => undefined };
      const received = Buffer.concat(chunks);
      settle(() => resolve({ request, token, status, header, body: received, isTruncated }));
    }
    function fail(cause: string, networkError?: Error): void {
      const status = head?.status;
      // With a 429 the service did not act. A successful DELETE needs no body.
      if (status === 429 || (method === "DELETE" && isSuccess(status))) return respond(true);
      const kind = controller ? "unanswered" : "unreachable";
      const short = networkError && shortNetworkError(networkError);
      const lasting = networkError !== undefined && isCertificateError(networkError);
      settle(() => reject(new RequestError({ kind, method, path, status, cause, short, lasting })));
    }
    function onCancel(): void {
      const cancelSignal = controller ? cancelSent : cancelUnsent;
      if (!cancelSignal.aborted) return;
      if (controller && method === "POST") fail("given up while waiting for the answer");
      else settle(() => reject(cancelSignal.reason as Error));
    }
    function onTimeout(): void {
      fail(`${missingAt[stage()]} ${baseUrl.host} within ${requestTimeoutMs / 1000} s`);
    }

    clock.sleep(requestTimeoutMs, signal).then(onTimeout, () => undefined);
    cancelUnsent.addEventListener("abort", onCancel, { signal });
    cancelSent.addEventListener("abort", onCancel, { signal });
    onCancel();
    if (signal.aborted) return promise;

    dispatcher.dispatch(
      {
        origin: baseUrl.origin,
        path: request.target,
        method,
        headers: {
          authorization: `Bearer ${token}`,
          accept: "application/json",
          "accept-encoding": "identity",
          "user-agent": options.userAgent,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body }),
        // This makes undici send `connection: close`.
        reset: method === "POST",
        // The time-out above is for the whole request. A slow drip of bytes does not put the time-out off.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart(started) {
          // With a second start, undici would send the request again. Only `request.ts` may decide to do that (G2).
          if (signal.aborted || controller) return started.abort(new Error("given up"));
          controller = started;
          onSend();
        },
        onResponseStart(_, status, headers) {
          // A status below 200 only announces the response.
          if (status >= 200) head = { status, header: (name) => [headers[name]].flat()[0] };
        },
        onResponseData(_, chunk) {
          chunks.push(chunk);
          bodyBytes += chunk.length;
          if (bodyBytes > maxBodyBytes) respond(true);
        },
        onResponseEnd: () => respond(false),
        onResponseError(_, error) {
          fail(redact(networkErrorMessage(error, baseUrl, stage(), hasProxy)), error);
        },
      },
    );
    return promise;
  }
}

/** Whether the status is a 2xx. */
export function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}
