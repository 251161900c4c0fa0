/**
 * One HTTP request and its answer over undici, and what is known for sure when it fails: whether a
 * connection was made, whether an answer had begun.
 */
import type { Dispatcher } from "undici";
import { notNeeded } from "../../abort";
import type { Clock } from "../../clock";
import { RequestError } from "../errors";
import type { Address } from "./address";
import type { HttpResponse, HttpRequest } from "./exchange";
import { isSuccess } from "./exchange";
import { networkErrorMessage, isCertificateError } from "./faultWords";

export interface TransferOptions {
  address: Address;
  headers: Record<string, string>;
  timeoutMs: number;
  clock: Clock;
}

export function transfer(
  dispatcher: Dispatcher,
  call: HttpRequest,
  { address, headers, timeoutMs, clock }: TransferOptions,
): Promise<HttpResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
  let settled = false;
  const timer = new AbortController();
  /** Set when the connection stands and the first byte is about to leave: from then on it is sent. */
  let controller: Dispatcher.DispatchController | undefined;
  let head: Pick<HttpResponse, "status" | "headers"> | undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;

  function settle(outcome: () => void): void {
    if (settled) return;
    settled = true;
    timer.abort(notNeeded);
    call.unsent.removeEventListener("abort", onAbort);
    call.underWay.removeEventListener("abort", onAbort);
    outcome();
  }
  function answered(partial: boolean): void {
    const { status, headers } = head ?? { status: 0, headers: {} };
    settle(() => resolve({ status, headers, body: Buffer.concat(chunks), partial }));
  }
  function failed(cause: string, lasting = false): void {
    const status = head?.status;
    // A 429 says that the service did not act, whatever became of its body.
    const enough =
      status === 429 || (status !== undefined && call.statusIsEnough && isSuccess(status));
    if (enough) return answered(true);
    const kind = controller ? "unanswered" : "unreachable";
    const { method, path } = call;
    settle(() => reject(new RequestError({ kind, method, path, status, cause, lasting })));
  }
  /** After settling, so that what undici says about it is not taken for a failure. */
  function drop(): void {
    controller?.abort(new Error("given up"));
  }
  function onAbort(): void {
    const signal = controller ? call.underWay : call.unsent;
    if (!signal.aborted) return;
    // A POST under way may have been acted on: its outcome is open, and the error has to say so (G2).
    if (controller && call.method === "POST") failed("given up while waiting for the answer");
    else settle(() => reject(signal.reason as Error));
    drop();
  }

  function onTimeout(): void {
    if (settled) return;
    const stage = !controller ? "no connection to" : head ? "no whole answer of" : "no answer of";
    failed(`${stage} ${address.host} within ${timeoutMs / 1000} s`);
    drop();
  }

  clock.sleep(timeoutMs, timer.signal).then(onTimeout, () => undefined);
  call.unsent.addEventListener("abort", onAbort);
  call.underWay.addEventListener("abort", onAbort);
  onAbort();
  if (settled) return promise;

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      // A second start would be a second sending, which only the links above may decide on (G2).
      if (settled || controller) return started.abort(new Error("given up"));
      controller = started;
    },
    onResponseStart(_, status, headers) {
      if (status >= 200) head = { status, headers };
    },
    onResponseData(_, chunk) {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= call.maxBytes) return;
      answered(true);
      drop();
    },
    onResponseEnd: () => answered(false),
    onResponseError: (_, error) => {
      const stage = head ? "answering" : controller ? "sent" : "connecting";
      failed(call.redact(networkErrorMessage(error, address, stage)), isCertificateError(error));
    },
  };
  const { method, target, body } = call;
  dispatcher.dispatch(
    {
      origin: address.origin,
      path: target,
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      // On a fresh connection there is nothing to keep alive.
      ...(method === "POST" ? { reset: true } : {}),
      // The time-out above is for the whole, which a slow drip of bytes cannot put off.
      headersTimeout: 0,
      bodyTimeout: 0,
    },
    handler,
  );
  return promise;
}
