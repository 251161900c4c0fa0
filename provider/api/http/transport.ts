/**
 * One HTTP request over undici, and what is known for sure when it fails: whether a byte of it left this
 * machine, and whether a response had begun.
 */
import { EnvHttpProxyAgent, type Dispatcher } from "undici";
import { notNeeded } from "../../abort";
import type { ClientOptions } from "../client";
import { RequestError } from "../errors";
import { isLoopback } from "./loopback";
import { isCertificateError, networkErrorMessage } from "./networkError";

/** A request on its way to the service. */
export interface HttpRequest {
  method: "GET" | "POST" | "DELETE";
  /** As the document writes it (/v2/…), without the query: for errors. */
  path: string;
  /** What the rate limit counts by, with the method: the path, or its template if the path holds an id. */
  endpoint: string;
  /** Path and query as they go over the wire. */
  target: string;
  /** JSON; never logged, never in an error (G8). */
  body?: string;
  /** Cancels the request while no byte of it was sent. */
  cancelUnsent: AbortSignal;
  /** Cancels the wait for the response. The same signal as `cancelUnsent`, but for a POST. */
  cancelSent: AbortSignal;
  /** Makes text of the response fit to be shown: without secrets, also without the user data sent. */
  redact: (text: string) => string;
}

/** What the service answered. */
export interface HttpResponse {
  request: HttpRequest;
  status: number;
  /** By names in small letters. */
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  /** `body` is only the beginning. */
  isTruncated: boolean;
}

/** Sends requests to the service. */
export interface Transport {
  /**
   * Calls `onSend` when the first byte leaves. Rejects with `RequestError`, or with the reason of the
   * signal that cancelled the request; a POST cancelled after `onSend` gives a `RequestError` (G2).
   */
  send(request: HttpRequest, onSend: () => void): Promise<HttpResponse>;
  /** Closes idle connections. */
  close(): Promise<void>;
}

/** The reading of a longer response body ends there. A page of 100 instances has some 20 kB. */
const maxBodyBytes = 8 * 1024 * 1024;

/** @throws if a proxy variable is not an address. */
export function createTransport(baseUrl: URL, options: ClientOptions): Transport {
  const { clock, requestTimeoutMs } = options;
  const { origin, host } = baseUrl;
  const headers = {
    authorization: `Bearer ${options.token}`,
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": options.userAgent,
  };
  const connect = options.connect ?? connector(baseUrl, options);
  const kept = connect();

  return {
    async send(request, onSend) {
      // A POST opens a connection of its own. If an idle one were reset, nobody would know whether the
      // service had read the POST (G2).
      const own = request.method === "POST" ? connect() : undefined;
      try {
        return await sendOver(own ?? kept, request, onSend);
      } finally {
        void own?.destroy();
      }
    },
    close: () => kept.close(),
  };

  function sendOver(
    dispatcher: Dispatcher,
    request: HttpRequest,
    onSend: () => void,
  ): Promise<HttpResponse> {
    const { method, path, body, cancelUnsent, cancelSent } = request;
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    /** Aborted when the outcome is known. */
    const settled = new AbortController();
    const { signal } = settled;
    /** Set when there is a connection and the first byte is about to leave: from then on it is sent. */
    let controller: Dispatcher.DispatchController | undefined;
    let head: { status: number; headers: HttpResponse["headers"] } | undefined;
    const chunks: Buffer[] = [];
    let bodyBytes = 0;

    function settle(outcome: () => void): void {
      if (signal.aborted) return;
      settled.abort(notNeeded);
      outcome();
    }
    function respond(isTruncated: boolean): void {
      const { status, headers } = head ?? { status: 0, headers: {} };
      const all = Buffer.concat(chunks);
      settle(() => resolve({ request, status, headers, body: all, isTruncated }));
    }
    function fail(cause: string, lasting = false): void {
      const { status } = head ?? {};
      // A 429 says that the service did not act, and the success of a DELETE needs no body.
      if (status === 429 || (method === "DELETE" && isSuccess(status))) return respond(true);
      const kind = controller ? "unanswered" : "unreachable";
      settle(() => reject(new RequestError({ kind, method, path, status, cause, lasting })));
    }
    /** Called after settling, so that the error which undici then reports is not taken for a failure. */
    function drop(): void {
      controller?.abort(new Error("given up"));
    }
    function onCancel(): void {
      const canceled = controller ? cancelSent : cancelUnsent;
      if (!canceled.aborted) return;
      // The service may have acted on a POST that was sent: the error says that this is not known (G2).
      if (controller && method === "POST") fail("given up while waiting for the answer");
      else settle(() => reject(canceled.reason as Error));
      drop();
    }
    function onTimeout(): void {
      const stage = !controller
        ? "no connection to"
        : head
          ? "no complete answer from"
          : "no answer from";
      fail(`${stage} ${host} within ${requestTimeoutMs / 1000} s`);
      drop();
    }

    clock.sleep(requestTimeoutMs, signal).then(onTimeout, () => undefined);
    cancelUnsent.addEventListener("abort", onCancel, { signal });
    cancelSent.addEventListener("abort", onCancel, { signal });
    onCancel();
    if (signal.aborted) return promise;

    dispatcher.dispatch(
      {
        origin,
        path: request.target,
        method,
        headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
        ...(body === undefined ? {} : { body }),
        // Sends `connection: close`.
        reset: method === "POST",
        // The time-out above is for the whole request: a slow drip of bytes does not put it off.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart(started) {
          // A second start would send the request again, which only request.ts may decide (G2).
          if (signal.aborted || controller) return started.abort(new Error("given up"));
          controller = started;
          onSend();
        },
        onResponseStart(_, status, headers) {
          if (status >= 200) head = { status, headers };
        },
        onResponseData(_, chunk) {
          chunks.push(chunk);
          bodyBytes += chunk.length;
          if (bodyBytes <= maxBodyBytes) return;
          respond(true);
          drop();
        },
        onResponseEnd: () => respond(false),
        onResponseError: (_, error) => {
          const stage = head ? "answering" : controller ? "sent" : "connecting";
          const cause = request.redact(networkErrorMessage(error, baseUrl, stage));
          fail(cause, isCertificateError(error));
        },
      },
    );
    return promise;
  }
}

/** Whether it is a 2xx. */
export function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/** Makes what connects to the service, through the proxy of the environment if there is one. */
function connector(
  { hostname }: URL,
  { env, requestTimeoutMs }: Pick<ClientOptions, "env" | "requestTimeoutMs">,
): () => Dispatcher {
  // As with curl, the name in small letters wins. A proxy would look for loopback on its own machine.
  const read = (name: string) =>
    isLoopback(hostname) ? "" : env[name.toLowerCase()] || env[name] || "";
  function proxyAddress(name: string): string {
    const value = read(name);
    const address = value === "" || value.includes("://") ? value : `http://${value}`;
    // The value may hold a password, so the message does not repeat it.
    if (address && !URL.canParse(address)) throw new Error(`${name} is not the address of a proxy`);
    return address;
  }
  const options = {
    // With HTTP/2, undici repeats requests by itself after a GOAWAY. A POST must never be repeated (G2).
    allowH2: false,
    connectTimeout: Math.min(10_000, requestTimeoutMs),
    // Empty strings where they are not set, or undici would read process.env.
    httpProxy: proxyAddress("HTTP_PROXY"),
    httpsProxy: proxyAddress("HTTPS_PROXY"),
    noProxy: read("NO_PROXY"),
  };
  return () => new EnvHttpProxyAgent(options);
}
