/** COMPUTE_DEBUG=1: one redacted line a request, with nothing of any body but the request_id (G8). */
import type { ClientOptions } from "../client";
import { RequestError } from "../errors";
import { readEnvelope } from "./envelope";
import {
  type HttpResponse,
  type HttpRequest,
  type Middleware,
  header,
  isSuccess,
} from "./exchange";
import { oneLine } from "./text";

type Options = Pick<ClientOptions, "clock" | "redact" | "debug">;

export function debugLog({ clock, redact, debug }: Options): Middleware {
  if (!debug) return (next) => next;
  return (next) => async (call) => {
    const begun = clock.now();
    const say = (outcome: string) => {
      const ms = Math.round(clock.now() - begun);
      debug(oneLine(`${call.method} ${call.target} ${outcome} ${ms} ms`, 1000, redact));
    };
    try {
      const answer = await next(call);
      const { status, body } = answer;
      say(`${status} ${body.length} bytes${requestId(answer, call)} in`);
      return answer;
    } catch (error) {
      say(error instanceof RequestError ? causeOf(error) : "aborted after");
      throw error;
    }
  };
}

/** The message without the method and the path, which begin the line anyway. */
function causeOf({ kind, message, method, path }: RequestError): string {
  return `${kind}: ${message.replace(`${method} ${path}: `, "")} after`;
}

function requestId(answer: HttpResponse, call: HttpRequest): string {
  const inBody = isSuccess(answer.status)
    ? undefined
    : readEnvelope(answer, call.redact)?.requestId;
  const id = inBody ?? header(answer, "x-request-id");
  return id ? ` ${id}` : "";
}
