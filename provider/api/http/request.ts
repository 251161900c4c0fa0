/** Takes each request through all steps: rate limit, sending, log, error status, reading of the body, retries. */
import type { ClientOptions } from "../options";
import { RequestError } from "../errors";
import { RateLimit, type Permit, type RequestEnd } from "./rateLimit";
import { errorOf, oneLine, readEnvelope, retryAfterMs } from "./response";
import { type HttpRequest, type HttpResponse, Transport, isSuccess } from "./transport";

/** The maximum number of tries of a GET or DELETE, without those that end with a 429 or a renewed token. */
const maxTries = 4;
/** About the length of the delay before the second try. Each further delay is twice as long. */
const firstDelayMs = 500;

type Read<T> = (response: HttpResponse) => T;

/**
 * Makes what sends the requests of one client.
 *
 * @throws Error if a proxy variable of the environment is not an address
 */
export function createSender(options: ClientOptions) {
  const { clock, random, onRetry, renewToken } = options;
  const rateLimit = new RateLimit({
    ...options,
    onPause: ({ failure, ...pause }) => failure && onRetry?.({ ...pause, error: failure }),
  });
  const transport = new Transport(options);
  /** The token of the next request. */
  let { token } = options;

  async function sendOnce<T>(request: HttpRequest, read: Read<T>, given?: Permit): Promise<T> {
    const { method, path, endpoint, cancelUnsent } = request;
    // Wait for the rate limit, unless the caller has waited (`reachPostFront`).
    const permit = given ?? (await rateLimit.acquirePermit(method, endpoint, cancelUnsent));
    const endPermit = permit.use();
    if (!endPermit) {
      const cause = "its permit was used up or given back";
      throw new RequestError({ kind: "unsendable", method, path, cause, lasting: true });
    }
    let end: RequestEnd = { sent: false };
    try {
      // Send the request, wait for the whole response, and log the request.
      const onSend = () => (end = { sent: true });
      const sending = transport.send({ request, token, onSend });
      const response = await logOutcome(request, sending, options);
      const { status } = response;
      const retryAfter = status === 429 ? response.header("retry-after") : undefined;
      const clocks = { now: clock.date(), date: response.header("date") };
      const failure = isSuccess(status) ? undefined : errorOf(response, options.baseUrl);
      end = { sent: true, status, retryAfterMs: retryAfterMs(retryAfter, clocks), failure };
      if (failure) throw failure;
      return read(response);
    } finally {
      // Report the end to the rate limit, so that a 429 holds back the next request.
      endPermit(end);
    }
  }

  /**
   * Sends a request and resolves to what `read` returns for the 2xx response. Rejects with a `RequestError`, or with the
   * reason of the signal that cancelled the request. Without a `permit`, each try first waits for the rate limit. A POST
   * is sent at most once (no create is blindly retried, G2).
   */
  async function send<T>(request: HttpRequest, read: Read<T>, permit?: Permit): Promise<T> {
    let mayHaveActed = false;
    let tokenRenewed = false;
    for (let failedTries = 0; ;) {
      const sentToken = token;
      try {
        return await sendOnce(request, read, permit);
      } catch (caught) {
        if (!(caught instanceof RequestError)) throw caught;
        // One request is sent with one new token at most.
        const newToken: string | undefined =
          tokenRenewed || !isTokenRefusal(caught) ? undefined : renewToken?.(sentToken);
        // A POST is sent again only by the create protocol, with a new permit and a new ledger record (G2).
        const isPost = request.method === "POST";
        if (newToken !== undefined) {
          [token, tokenRenewed] = [newToken, true];
          if (!isPost) continue;
        }
        if (isPost) throw caught.with({ tokenRenewed });
        mayHaveActed ||= caught.mayHaveActed;
        const error = caught.with({ mayHaveActed });
        // A 429 never fails a GET or DELETE (G6). The rate limit delays the next try until the pause has ended.
        if (error.status === 429) continue;
        failedTries++;
        if (error.lasting || !error.transient || failedTries >= maxTries) throw error;
        const delayMs = firstDelayMs * 2 ** (failedTries - 1) * (0.75 + random() / 2);
        const { method, endpoint } = request;
        onRetry?.({ method, path: endpoint, error, inMs: delayMs, isAsked: false });
        await clock.sleep(delayMs, request.cancelUnsent);
      }
    }
  }

  const reachFront = rateLimit.reachFront.bind(rateLimit);
  return { send, reachFront, close: () => transport.close() };
}

/** Whether the service refused the token, and did nothing. A POST's 401 without an error envelope may be a proxy's. */
function isTokenRefusal({ isTokenRefused, method, hasEnvelope }: RequestError): boolean {
  return isTokenRefused && (method !== "POST" || hasEnvelope);
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
