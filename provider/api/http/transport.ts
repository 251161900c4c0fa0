/**
 * Sends one HTTP request over undici. A failure says what is known for sure: whether a byte of the request left this
 * machine, and whether a response had begun.
 */
import type { IncomingHttpHeaders } from "node:http";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { EnvHttpProxyAgent, type Dispatcher } from "undici";
import { notNeeded } from "../../abort";
import { isCertificateRefused } from "../../networkCodes";
import type { ClientOptions } from "../options";
import { RequestError, type FailureKind } from "../requestError";
import { networkErrorMessage, shortNetworkError, type Stage } from "./networkError";
import { proxyFor, type Proxy } from "./proxies";

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
  /** Removes secrets from a text of the response, also those that are only in this request. */
  redact: (text: string) => string;
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
}

/**
 * How long the connection to one of the host's addresses may take before the next one is tried. A lost packet is repeated after a
 * second. With Node's half a second, an address that needs longer would be given up in each try of a request.
 */
const attemptTimeoutMs = 2500;

/** The longest body that is read. A page of 100 instances has about 20 kB. */
const maxBodyMiB = 8;

const missingAt: Readonly<Record<Stage, string>> = {
  connecting: "no connection to",
  sent: "no answer from",
  answering: "no complete answer from",
};

/** A request, and what it is sent with. */
interface Outgoing {
  request: HttpRequest;
  token: string;
  /** Called when the first byte is about to leave. */
  onSend: () => void;
}

/** Sends requests over undici. */
export class Transport {
  readonly #options: ClientOptions;
  readonly #baseUrl: URL;
  readonly #proxy: Proxy | undefined;
  readonly #createDispatcher: () => Dispatcher;
  /** For all requests except POSTs. */
  #sharedDispatcher: Dispatcher;
  /** What to trust beside Node's own authorities, once these did not suffice. */
  #systemTrust: SecureContext | undefined;

  /** @throws Error if a proxy variable of the environment is not an address */
  constructor(options: ClientOptions) {
    this.#options = options;
    this.#baseUrl = new URL(options.baseUrl);
    this.#proxy = proxyFor(this.#baseUrl, options.env);
    this.#createDispatcher = options.createDispatcher ?? (() => this.#createAgent());
    this.#sharedDispatcher = this.#createDispatcher();
  }

  /**
   * Sends the request with this token. Rejects with a `RequestError`, or with the reason of the signal that cancelled the
   * request. A POST that is cancelled after `onSend` rejects with a `RequestError`, because the service may have acted (G2).
   * If a certificate is refused, the request is sent once more, with the certificates of the system.
   */
  async send(outgoing: Outgoing): Promise<HttpResponse> {
    const isSystemTrusted = this.#systemTrust !== undefined;
    try {
      return await this.#sendOnce(outgoing);
    } catch (error) {
      const isRefused = error instanceof RequestError && isCertificateRefused(error.short);
      if (isSystemTrusted || !isRefused) throw error;
      this.#trustSystem();
      return await this.#sendOnce(outgoing);
    }
  }

  /**
   * Trusts the certificates of the system, too, as `pulumi` itself does. On Linux, SSL_CERT_FILE and SSL_CERT_DIR say where they
   * are. It is done only when it is needed, because it takes time to read them.
   */
  #trustSystem(): void {
    if (this.#systemTrust) return;
    this.#systemTrust = createSecureContext({
      ca: [...getCACertificates("default"), ...getCACertificates("system")],
    });
    void this.#sharedDispatcher.close();
    this.#sharedDispatcher = this.#createDispatcher();
  }

  async #sendOnce(outgoing: Outgoing): Promise<HttpResponse> {
    const exchange = new Exchange({
      ...outgoing,
      options: this.#options,
      baseUrl: this.#baseUrl,
      proxy: this.#proxy,
    });
    if (outgoing.request.method !== "POST") return await exchange.over(this.#sharedDispatcher);
    // If the service resets an idle connection just when a POST is sent on it, nobody knows whether it has read the POST
    // (G2). So a POST opens a connection of its own.
    const postDispatcher = this.#createDispatcher();
    try {
      return await exchange.over(postDispatcher);
    } finally {
      void postDispatcher.destroy();
    }
  }

  /** Closes the shared connections, each as soon as it is idle. Resolves when all are closed. */
  close(): Promise<void> {
    return this.#sharedDispatcher.close();
  }

  #createAgent(): Dispatcher {
    const checked = {
      // Otherwise NODE_TLS_REJECT_UNAUTHORIZED=0 would turn the check of certificates off, and the token could go to anybody (G8).
      rejectUnauthorized: true,
      ...(this.#systemTrust && { secureContext: this.#systemTrust }),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
    };
    return new EnvHttpProxyAgent({
      connect: checked,
      requestTls: checked,
      proxyTls: checked,
      // With HTTP/2, undici itself repeats requests after a GOAWAY. A POST must never be repeated (G2).
      allowH2: false,
      connectTimeout: Math.min(10_000, this.#options.requestTimeoutMs),
      // What is not set is an empty string. Otherwise undici would read `process.env`.
      httpProxy: "",
      httpsProxy: this.#proxy?.address ?? "",
      noProxy: this.#proxy?.noProxy ?? "",
    });
  }
}

/** What an exchange depends on. */
interface ExchangeOptions extends Outgoing {
  options: ClientOptions;
  baseUrl: URL;
  /** The proxy that the connection may use. */
  proxy: Proxy | undefined;
}

/** One request and its response, as undici reports them. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #given: ExchangeOptions;
  readonly #outcome = Promise.withResolvers<HttpResponse>();
  /** Aborted when the outcome is known, which stops the time-out and the listeners for a cancellation. */
  readonly #settled = new AbortController();
  /** Set when a connection exists and the first byte is about to leave. From then on the request counts as sent. */
  #controller: Dispatcher.DispatchController | undefined;
  #head: ResponseHead | undefined;
  readonly #chunks: Buffer[] = [];
  #bodyBytes = 0;

  constructor(given: ExchangeOptions) {
    this.#given = given;
  }

  /** Sends the request, once. Resolves and rejects as `Transport.send` does. */
  over(dispatcher: Dispatcher): Promise<HttpResponse> {
    const { request, options } = this.#given;
    const { signal } = this.#settled;
    const onCancel = () => this.#cancel();
    options.clock.sleep(options.requestTimeoutMs, signal).then(
      () => this.#timeOut(),
      () => undefined,
    );
    request.cancelUnsent.addEventListener("abort", onCancel, { signal });
    request.cancelSent.addEventListener("abort", onCancel, { signal });
    this.#cancel();
    if (!signal.aborted) dispatcher.dispatch(this.#dispatchOptions(), this);
    return this.#outcome.promise;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // With a second start, undici would send the request again. Only `request.ts` may decide to do that (G2).
    if (this.#settled.signal.aborted || this.#controller) {
      controller.abort(new Error("given up"));
      return;
    }
    this.#controller = controller;
    this.#given.onSend();
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    // A status below 200 only announces the response.
    if (status >= 200) this.#head = { status, header: (name) => [headers[name]].flat()[0] };
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > maxBodyMiB * 1024 * 1024)
      this.#fail(`the answer is longer than ${maxBodyMiB} MiB`, undefined, "unreadable");
  }

  onResponseEnd(): void {
    const { request, token } = this.#given;
    const { status, header } = this.#head ?? { status: 0, header: () => undefined };
    const body = Buffer.concat(this.#chunks);
    this.#settle(() => this.#outcome.resolve({ request, token, status, header, body }));
  }

  onResponseError(_: unknown, error: Error): void {
    const { request, baseUrl, proxy } = this.#given;
    const message = networkErrorMessage(error, { baseUrl, stage: this.#stage, proxy });
    this.#fail(request.redact(message), error);
  }

  get #stage(): Stage {
    if (this.#head) return "answering";
    return this.#controller ? "sent" : "connecting";
  }

  #dispatchOptions(): Dispatcher.DispatchOptions {
    const { request, token, options, baseUrl } = this.#given;
    const { method, target, body } = request;
    return {
      origin: baseUrl.origin,
      path: target,
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
      // The time-out of `over` is for the whole request. A slow drip of bytes does not put it off.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
  }

  /** Gives the request up if the signal that counts at this stage is aborted. */
  #cancel(): void {
    const { method, cancelUnsent, cancelSent } = this.#given.request;
    const signal = this.#controller ? cancelSent : cancelUnsent;
    if (!signal.aborted) return;
    if (this.#controller && method === "POST") this.#fail("given up while waiting for the answer");
    else this.#settle(() => this.#outcome.reject(signal.reason as Error));
  }

  #timeOut(): void {
    const { options, baseUrl } = this.#given;
    const seconds = options.requestTimeoutMs / 1000;
    this.#fail(`${missingAt[this.#stage]} ${baseUrl.host} within ${seconds} s`);
  }

  #fail(
    cause: string,
    networkError?: Error,
    kind: FailureKind = this.#controller ? "unanswered" : "unreachable",
  ): void {
    const { method, path } = this.#given.request;
    const status = this.#head?.status;
    const short = networkError && shortNetworkError(networkError);
    // A retry would fail as well.
    const lasting = isCertificateRefused(short);
    const failure = { kind, method, path, status, cause, short, lasting } as const;
    this.#settle(() => this.#outcome.reject(new RequestError(failure)));
  }

  /** Ends the exchange with its first outcome. Ignores what undici reports after that. */
  #settle(settle: () => void): void {
    if (this.#settled.signal.aborted) return;
    this.#settled.abort(notNeeded);
    settle();
    // This closes the connection, which undici would keep for the response. After the end of the response, it has no effect.
    this.#controller?.abort(notNeeded);
  }
}

/** Whether the status is a 2xx. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
