/** The rate limit as a link: a request waits for its turn, and tells the limit how it ended (G6). */
import type { Clock } from "../../clock";
import type { SlowedDown } from "../client";
import { RequestError } from "../errors";
import { type Answer, type Link, header } from "./exchange";
import { type Ending, PathLimiter, type PathLimiterOptions } from "./pathLimiter";
import { retryAfterMs } from "./retryAfter";

export interface PaceOptions {
  clock: Clock;
  random: () => number;
  requestsPerMinute: number;
  onSlowedDown?: ((info: SlowedDown) => void) | undefined;
  backOff?: PathLimiterOptions["backOff"];
}

/** Of the service's limit, 5 % is left to what else uses the token. */
const share = 0.95;

/** The limits belong to the client that made them: two providers do not know of each other. */
export function pace({
  clock,
  random,
  requestsPerMinute,
  onSlowedDown,
  backOff,
}: PaceOptions): Link {
  const limit = Math.max(1, Math.floor(requestsPerMinute * share));
  const paths = new Map<string, PathLimiter>();
  function limiterOf(path: string): PathLimiter {
    let limiter = paths.get(path);
    if (!limiter) {
      const tell = (retryInMs: number) => onSlowedDown?.({ path, retryInMs });
      limiter = new PathLimiter({ clock, random, limit, onSlowedDown: tell, backOff });
      paths.set(path, limiter);
    }
    return limiter;
  }
  function endingOf(answer: Answer): Ending {
    if (answer.status !== 429) return { sent: true, answered: true };
    const asked = retryAfterMs(header(answer, "retry-after"), clock.date());
    return { sent: true, tooMany: true, retryAfterMs: asked };
  }

  return (next) => async (call) => {
    const priority = call.method === "GET" ? "read" : "write";
    call.turn?.awaited();
    const permit = await limiterOf(call.endpoint).enter(priority, call.unsent);
    let ending: Ending = { sent: false };
    try {
      call.turn?.come();
      ending = { sent: true, answered: false };
      const answer = await next(call);
      ending = endingOf(answer);
      return answer;
    } catch (error) {
      if (error instanceof RequestError && error.kind === "unreachable") ending = { sent: false };
      throw error;
    } finally {
      permit.end(ending);
    }
  };
}
