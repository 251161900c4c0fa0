/** The way of each request: rate limit, sending, debug log, error status, reading, and retries. */
import type { ClientOptions } from "../client";
import { RequestError } from "../errors";
import type { AcquirePermit, Permit, RequestEnd } from "./rateLimit";
import { errorOf, header, oneLine, readEnvelope, retryAfterMs } from "./response";
import { type HttpRequest, type HttpResponse, type Transport, isSuccess } from "./transport";

/** Tries of a request in all. Those that end with a 429 are not counted. */
const maxTries = 4;
const firstDelayMs = 500;

/**
 * Sends a request and gives what `read` makes of a 2xx. Rejects with `RequestError`, or with the reason of
 * the signal that cancelled the request. A POST needs a permit, and is sent at most once (G2).
 */
export type Send = <T>(
  request: HttpRequest,
  read: (response: HttpResponse) => T,
  permit?: Permit,
) => Promise<T>;

/** Makes the function that takes each request through all its steps. */
export function createSend(
  options: ClientOptions,
  acquire: AcquirePermit,
  transport: Transport,
): Send {
  const { clock, random, onFailedTry } = options;

  const sendOnce: Send = async (request, read, createPermit) => {
    const { method, path, endpoint, cancelUnsent } = request;
    // Wait for the rate limit. A create has waited before, and brings its permit.
    const permit = createPermit ?? (await acquire(method, endpoint, cancelUnsent));
    const endPermit = permit.use();
    if (!endPermit) {
      const cause = "its permit was used up or given back";
      throw new RequestError({ kind: "unsendable", method, path, cause, lasting: true });
    }
    let end: RequestEnd = { sent: false };
    try {
      // Send the request, wait for the whole response, and write the debug log.
      const sending = transport.send(request, () => (end = { sent: true }));
      const response = await logged(request, sending, options);
      const { status } = response;
      const retryAfter = status === 429 ? header(response, "retry-after") : undefined;
      end = { sent: true, status, retryAfterMs: retryAfterMs(retryAfter, clock.date()) };
      // A status that is no success is an error.
      if (!isSuccess(status)) throw errorOf(response, options.baseUrl);
      // Read the body.
      return read(response);
    } finally {
      // Tell the rate limit how the request ended, so that a 429 holds back the next one.
      endPermit(end);
    }
  };

  return async (request, read, permit) => {
    for (let failedTries = 0; ;) {
      try {
        return await sendOnce(request, read, permit);
      } catch (error) {
        if (request.method === "POST" || !(error instanceof RequestError)) throw error;
        onFailedTry?.(error);
        // A 429 fails nothing (G6): the rate limit holds the next try back, for as long as it takes.
        if (error.status === 429) continue;
        failedTries++;
        if (error.lasting || !error.transient || failedTries >= maxTries) throw error;
        const delayMs = firstDelayMs * 2 ** (failedTries - 1) * (0.75 + random() / 2);
        await clock.sleep(delayMs, request.cancelUnsent);
      }
    }
  };
}

/** COMPUTE_DEBUG=1: writes one redacted line a request, with nothing of a body but the request_id (G8). */
async function logged(
  { method, path, target }: HttpRequest,
  sending: Promise<HttpResponse>,
  { clock, redact, debug }: ClientOptions,
): Promise<HttpResponse> {
  if (!debug) return sending;
  const begun = clock.now();
  const log = (outcome: string) => {
    const ms = Math.round(clock.now() - begun);
    debug(oneLine(`${method} ${target} ${outcome} ${ms} ms`, 1000, redact));
  };
  try {
    const response = await sending;
    const { status, body } = response;
    const inBody = isSuccess(status) ? undefined : readEnvelope(response)?.requestId;
    const requestId = inBody ?? header(response, "x-request-id") ?? "";
    log(`${status} ${body.length} bytes${requestId && ` ${requestId}`} in`);
    return response;
  } catch (error) {
    if (!(error instanceof RequestError)) log("aborted after");
    // Without method and path, which begin the line.
    else log(`${error.kind}: ${error.message.replace(`${method} ${path}: `, "")} after`);
    throw error;
  }
}
