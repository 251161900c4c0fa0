/** Turns an answer that is no success into an error that says what the service said (G9). */
import { STATUS_CODES } from "node:http";
import { type RequestFailure, RequestError } from "../errors";
import {
  type HttpResponse,
  type HttpRequest,
  type Middleware,
  header,
  isSuccess,
} from "./exchange";
import { readEnvelope } from "./envelope";
import { excerpt } from "./text";

/** `origin` is the service's own, which a redirect may lead to as well. */
export function throwOnErrorStatus(origin: string): Middleware {
  return (next) => async (call) => {
    const answer = await next(call);
    if (isSuccess(answer.status)) return answer;
    throw new RequestError(failureOf(call, answer, origin));
  };
}

function failureOf(call: HttpRequest, answer: HttpResponse, origin: string): RequestFailure {
  const { method, path } = call;
  const { status } = answer;
  const failure = { kind: "answered", method, path, status } as const;
  const location = status < 400 ? header(answer, "location") : undefined;
  if (location !== undefined)
    return { ...failure, cause: call.redact(redirected(location, origin)) };
  const service = readEnvelope(answer, call.redact);
  const phrase = STATUS_CODES[status] ?? "an error";
  const seen = service ? undefined : excerpt(answer, call.redact);
  const cause = service?.message ?? `the service answered ${phrase}${seen ? `: ${seen}` : ""}`;
  return { ...failure, service, cause };
}

/**
 * No redirect is followed, so that the token goes nowhere else (G8) and a POST is not sent a second time
 * (G2). Only the origin is named: the rest may hold what is not for the screen.
 */
function redirected(location: string, origin: string): string {
  const url = URL.parse(location, origin);
  const refused = "which is not followed: nothing was sent there";
  if (!url || !["http:", "https:"].includes(url.protocol)) {
    return `redirected to an address that cannot be used, ${refused}`;
  }
  const where = url.origin === origin ? `another path of ${origin}` : url.origin;
  return `redirected to ${where}, ${refused}. If the service is there, set compute:baseUrl to it`;
}
