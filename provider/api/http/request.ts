/** Takes each request through all steps: rate limit, sending, log, error status, reading of the body, retries. */
import type { ClientOptions } from "../options";
import { RequestError } from "../requestError";
import { RateLimit, type Permit, type RequestEnd } from "./rateLimit";
import { errorOf, oneLine, readEnvelope } from "./response";
import { type HttpRequest, type HttpResponse, Transport, isSuccess } from "./transport";

/** About the length of the delay before the second try. Each further delay is twice as long, up to `maxDelayMs`. */
const firstDelayMs = 500;
const maxDelayMs = 5000;
/** For how long a request is repeated to an address at which no service may be. */
const strangerMs = 10_000;

/** A request on its way through all steps. */
interface Sending<T> {
  request: HttpRequest;
  /** Reads the 2xx response. */
  read: (response: HttpResponse) => T;
  /** Of a POST, whose caller has waited for the permit. Without a permit, each try first waits for one. */
  permit?: Permit;
  /** As in `PageQuery`. */
  isProbe?: boolean | undefined;
  /** Whether only the service can give an answer that `read` accepts. */
  showsService?: boolean;
}

/** Sends the requests of one client. */
export class RequestSender {
  readonly #options: ClientOptions;
  readonly rateLimit: RateLimit;
  readonly #transport: Transport;
  /** The token of the next request. */
  #token: string;
  /** Whether the service has answered: with a listing, or with an error of its own. Until then, the address may be wrong. */
  #isKnown = false;

  /** @throws Error if a proxy variable of the environment is not an address */
  constructor(options: ClientOptions) {
    this.#options = options;
    this.rateLimit = new RateLimit(options);
    this.#transport = new Transport(options);
    this.#token = options.token;
  }

  /**
   * Sends a request and resolves to what `read` returns for the 2xx response. Rejects with a `RequestError`, or with the
   * reason of the signal that cancelled the request. A POST is sent at most once (no create is blindly retried, G2).
   */
  send<T>(sending: Sending<T>): Promise<T> {
    const isPost = sending.request.method === "POST";
    return isPost ? this.#sendPost(sending) : this.#sendRepeatedly(sending);
  }

  /** As `Transport.close`. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  /** A POST is sent again only by the create protocol, with a new permit and a new ledger record (G2). */
  async #sendPost<T>(sending: Sending<T>): Promise<T> {
    const token = this.#token;
    const { words } = this.#options;
    try {
      return await this.#sendOnce(sending);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      throw error.with({ words, tokenRenewed: this.#renewToken(error, token) });
    }
  }

  /** A GET or DELETE is sent again after an error that may pass, and with a new token. */
  async #sendRepeatedly<T>(sending: Sending<T>): Promise<T> {
    const { isProbe } = sending;
    const { clock, patienceMs, words } = this.#options;
    let mayHaveActed = false;
    let isTokenRenewed = false;
    for (let failedTries = 0, failingSince = 0; ;) {
      const token = this.#token;
      try {
        const result = await this.#sendOnce(sending);
        this.#isKnown ||= sending.showsService === true;
        return result;
      } catch (caught) {
        if (!(caught instanceof RequestError)) throw caught;
        if (isProbe && caught.about !== "pause") throw caught;
        // One request is sent with one new token at most.
        if (!isTokenRenewed && this.#renewToken(caught, token)) {
          isTokenRenewed = true;
          continue;
        }
        this.#isKnown ||= caught.isOfService;
        mayHaveActed ||= caught.mayHaveActed;
        const error = caught.with({ words, mayHaveActed });
        // A pause never fails a GET or DELETE (G6). The rate limit delays the next try until the pause has ended.
        if (error.about === "pause") failedTries = 0;
        else {
          if (failedTries++ === 0) failingSince = clock.now();
          const limitMs = this.#isKnown ? patienceMs : Math.min(patienceMs, patienceFor(error));
          const leftMs = failingSince + limitMs - clock.now();
          if (error.lasting || !error.transient || leftMs <= 0) throw error;
          const delayMs = Math.min(maxDelayMs, firstDelayMs * 2 ** (failedTries - 1));
          await this.#delay(sending.request, error, delayMs, leftMs);
        }
      }
    }
  }

  async #sendOnce<T>({ request, read, permit: given }: Sending<T>): Promise<T> {
    const { method, endpoint, cancelUnsent } = request;
    // Wait for the rate limit, unless the caller has waited.
    const permit = given ?? (await this.rateLimit.acquirePermit(method, endpoint, cancelUnsent));
    const endPermit = permit.use();
    let end: RequestEnd = "unsent";
    try {
      // Send the request, wait for the whole response, and log the request.
      const onSend = () => (end = "unanswered");
      const sending = this.#transport.send({ request, token: this.#token, onSend });
      const response = await logOutcome(request, sending, this.#options);
      end = "answered";
      if (isSuccess(response.status)) return read(response);
      const error = errorOf(response, this.#options);
      if (error.about === "pause") end = error;
      throw error;
    } finally {
      // Report the end to the rate limit, so that a 429 holds back the next request.
      endPermit(end);
    }
  }

  /** Asks for another token if the service refused this one. Returns whether all later requests have another. */
  #renewToken(error: RequestError, token: string): boolean {
    const newToken = isTokenRefusal(error) ? this.#options.renewToken?.(token) : undefined;
    if (newToken !== undefined) this.#token = newToken;
    return newToken !== undefined;
  }

  /** Waits about `delayMs` before the next try. Rejects with the reason of the signal that cancelled the request. */
  #delay(
    { method, endpoint, cancelUnsent }: HttpRequest,
    error: RequestError,
    delayMs: number,
    maxMs: number,
  ): Promise<void> {
    const { clock, random, onRetry } = this.#options;
    const inMs = Math.min(maxMs, delayMs * (0.75 + random() / 2));
    onRetry?.({ method, path: endpoint, error, inMs, isAsked: false });
    return clock.sleep(inMs, cancelUnsent);
  }
}

/** For how long, in milliseconds, a request is repeated after this error if the address may be wrong. */
function patienceFor({ isNobodyThere, isPage }: RequestError): number {
  if (isPage) return 0;
  return isNobodyThere ? strangerMs : Infinity;
}

/** Whether the service refused the token, and did nothing. A POST's 401 without an error envelope may be a proxy's. */
function isTokenRefusal({ about, method, hasEnvelope }: RequestError): boolean {
  return about === "token" && (method !== "POST" || hasEnvelope);
}

/** Settles as `sending` does, and writes one line. Of a body, the line has only a `request_id` (G8). */
async function logOutcome(
  { method, path, target }: HttpRequest,
  sending: Promise<HttpResponse>,
  { clock, redact, log }: ClientOptions,
): Promise<HttpResponse> {
  const begunAt = clock.now();
  let outcome = "aborted after";
  try {
    const response = await sending;
    const header = response.header("x-request-id") ?? "";
    const { status, body } = response;
    const envelope = isSuccess(status) ? undefined : readEnvelope(response);
    const requestId = envelope?.requestId ?? response.request.redact(header);
    outcome = `${status} ${body.length} bytes${requestId && ` ${requestId}`} in`;
    return response;
  } catch (error) {
    if (error instanceof RequestError) {
      // The line begins with method and path, so they are cut from the message.
      outcome = `${error.kind}: ${error.message.replace(`${method} ${path}: `, "")} after`;
    }
    throw error;
  } finally {
    const ms = Math.round(clock.now() - begunAt);
    log(oneLine(`${method} ${target} ${outcome} ${ms} ms`, 1000, redact));
  }
}
