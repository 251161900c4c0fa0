/**
 * Redirects: a GET follows a few on the service's own origin. Everything else is refused, so that
 * the token goes nowhere else (G8) and a POST is not sent a second time (G2).
 */
import { RequestError } from "../errors";
import type { Address } from "./address";
import { type Answer, type Call, type Link, header } from "./exchange";

const mostHops = 3;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

export function redirects(address: Address): Link {
  return (next) => async (call) => {
    let current = call;
    for (let hops = 0; ; hops++) {
      const answer = await next(current);
      const location = header(answer, "location");
      if (!redirectStatuses.has(answer.status) || location === undefined) return answer;
      const url = URL.parse(location, address.origin + current.target);
      if (url?.origin !== address.origin) throw refusal(call, answer, elsewhere(url));
      if (call.method !== "GET") {
        throw refusal(
          call,
          answer,
          `redirected on the same origin, which a ${call.method} never follows; the base address may need another path`,
        );
      }
      if (hops === mostHops) throw refusal(call, answer, `redirected more than ${mostHops} times`);
      const path = address.toPath(url.pathname);
      current = { ...current, target: url.pathname + url.search, path, endpoint: path };
    }
  };
}

function elsewhere(url: URL | null): string {
  // The origin only: the rest may hold what is not for the screen.
  const where = url
    ? url.origin === "null"
      ? `a ${url.protocol} address`
      : url.origin
    : "an address that cannot be read";
  return `redirected to ${where}, which is not the service: not followed, and the token was not sent there`;
}

function refusal(call: Call, answer: Answer, cause: string): RequestError {
  const { method, path } = call;
  return new RequestError({
    kind: "answered",
    method,
    path,
    status: answer.status,
    cause: call.clean(cause),
  });
}
