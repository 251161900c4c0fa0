/** The rate limit as a link: a request waits for its permit, and the limit is told how it ended (G6). */
import type { Clock } from "../../clock";
import { RequestError } from "../errors";
import { outcomeOf } from "../postOutcome";
import { type HttpResponse, type HttpRequest, type Middleware, header } from "./exchange";
import type { Ending, RateLimit } from "./rateLimit";

export function pace(limit: RateLimit, clock: Clock): Middleware {
  return (next) => async (call) => {
    const permit = call.permit ?? (await limit.enter(call.method, call.endpoint, call.unsent));
    const end = permit.use();
    if (!end) throw new RequestError({ ...call, kind: "unsendable", cause: usedUp, lasting: true });
    let ending: Ending = { sent: true, answered: false };
    try {
      const answer = await next(call);
      ending = endingOf(answer, clock.date());
      return answer;
    } catch (error) {
      if (!wasSent(call, error)) ending = { sent: false };
      throw error;
    } finally {
      end(ending);
    }
  };
}

const usedUp = "its permit was used up or given back";

function endingOf(answer: HttpResponse, now: Date): Ending {
  if (answer.status !== 429) return { sent: true, answered: true };
  return {
    sent: true,
    tooMany: true,
    retryAfterMs: retryAfterMs(header(answer, "retry-after"), now),
  };
}

function wasSent({ method, unsent }: HttpRequest, error: unknown): boolean {
  if (method === "POST") return outcomeOf(error, unsent).kind !== "notSent";
  return !(error instanceof RequestError && error.kind === "unreachable");
}

/** A service that asks for a longer pause is asked again all the same. */
const longestPauseMs = 5 * 60_000;

/**
 * Milliseconds to wait by a Retry-After header, which is seconds or an HTTP date (RFC 9110, 10.2.3; the document
 * does not show one). Undefined when there is no guidance in it.
 */
export function retryAfterMs(value: string | undefined, now: Date): number | undefined {
  const text = value?.trim() ?? "";
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  // "Now" from a service that just said "too many" is no guidance either.
  return ms > 0 ? Math.min(ms, longestPauseMs) : undefined;
}
