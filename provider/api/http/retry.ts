/** Asks again where that can do no harm: for GET and DELETE. A POST is made once (G2). */
import type { ClientOptions } from "../client";
import { RequestError } from "../errors";
import type { HttpRequest } from "./exchange";

/** Tries in all, 429s not counted. */
const tries = 4;
const firstDelayMs = 500;

type RetryOptions = Pick<ClientOptions, "clock" | "random" | "onFailedTry">;

export async function withRetry<T>(
  call: HttpRequest,
  attempt: () => Promise<T>,
  { clock, random, onFailedTry }: RetryOptions,
): Promise<T> {
  for (let failed = 0; ;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      onFailedTry?.(error);
      // A 429 fails nothing (G6): the rate limit holds the next try back, for as long as it takes.
      if (error.status === 429) continue;
      failed++;
      if (error.lasting || !error.transient || failed >= tries) throw error;
      const delay = firstDelayMs * 2 ** (failed - 1);
      await clock.sleep(delay * (0.75 + random() / 2), call.unsent);
    }
  }
}
