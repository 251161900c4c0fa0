/** Applies delivery faults, which change or cut the response that the caller gets, or keep it back. */
import type { ServerResponse } from "node:http";
import {
  bodyText,
  errorResponse,
  headersOf,
  sendResponse,
  ServiceError,
  type ServiceResponse,
} from "../http/response";
import { doesServiceAct, type DeliveryFault } from "./kinds";

/** What `deliver` knows of the request that the fault applies to. */
export interface DeliveryContext {
  requestId: string;
  socket: ServerResponse;
  /** Resolves when a test releases the fault. Rejects if the emulator is closed by then. */
  waitForRelease: () => Promise<void>;
}

/**
 * Delivers the response as the fault says. The first call of `answer` makes the service act, and each returns the true
 * response. Resolves with the status, or with undefined if none was sent.
 */
export async function deliver(
  fault: DeliveryFault,
  answer: () => ServiceResponse,
  context: DeliveryContext,
): Promise<number | undefined> {
  const { socket } = context;
  const send = (response: ServiceResponse) => sendResponse(socket, response);
  if (doesServiceAct(fault)) answer();
  switch (fault.kind) {
    case "hang":
      await context.waitForRelease();
      return send(answer());
    case "reset":
      socket.socket?.resetAndDestroy();
      return undefined;
    case "status": {
      const { status, code, message, retryAfter, body: text, contentType } = fault;
      const headers = retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) };
      if (text === undefined) {
        const error = new ServiceError(status, code, message, headers);
        return send(errorResponse(error, context.requestId));
      }
      return send({ status, headers, text, contentType });
    }
    case "html":
      return send({ status: fault.status, text: htmlPage, contentType: "text/html" });
    case "redirect":
      return send({ status: fault.status, headers: { Location: fault.location } });
    case "body": {
      const { status, headers } = answer();
      return send({ status, headers, text: fault.text, contentType: fault.contentType });
    }
    case "cutBody":
      return sendCut(socket, answer(), fault.bytes);
  }
}

const htmlPage =
  "<!doctype html><html><head><title>Bad gateway</title></head>" +
  "<body><h1>The page could not be shown</h1></body></html>\n";

async function sendCut(socket: ServerResponse, response: ServiceResponse, bytes?: number) {
  const body = Buffer.from(bodyText(response));
  socket.writeHead(response.status, headersOf(response, body.length));
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.write(body.subarray(0, bytes ?? Math.floor(body.length / 2)), () => resolve());
  await promise;
  // An orderly end, so that all that was written arrives first.
  socket.socket?.end();
  return response.status;
}
