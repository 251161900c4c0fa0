/**
 * Many runners that share one token, on a virtual clock: the provider's own rate limit, back-off and
 * retries against the emulator's own model of the service's limit. Nothing is sent and no real time
 * passes, so that the ten minutes of a hundred runners take seconds.
 */
import type { RateWindow } from "../../emulator/options";
import { RateLimiter } from "../../emulator/rateLimit";
import { seeded } from "../../emulator/random";
import { documentedRequestsPerMinute as limit } from "../../provider/api/contract";
import { type Call, chain, type Send } from "../../provider/api/http/exchange";
import { pace } from "../../provider/api/http/pace";
import { RateLimit, type RateLimitOptions } from "../../provider/api/http/rateLimit";
import { refuseErrors } from "../../provider/api/http/refuseErrors";
import { withRetry } from "../../provider/api/http/retry";
import { VirtualClock } from "../../provider/testing/virtualClock";

export interface Crowd {
  runners: number;
  /** Of each, all wanted at once: an `up` with a high `--parallel`. */
  requests: number;
  window: RateWindow;
  /** What each is told of the limit (`compute:requestsPerMinute`); left out, the service's own. */
  requestsPerMinute?: number;
  /** Runners that come along the way with a single request each. */
  latecomers?: number;
  /** Left out: the provider's own. */
  backOff?: RateLimitOptions["backOff"];
  seed?: number;
}

/** Times in seconds. */
export interface Outcome {
  /** Until the last runner was done, latecomers not counted. */
  took: number;
  /** The first moment at which the limit lets everyone be done. */
  ideal: number;
  /** 1 when by half of that time each had as many requests let in as any other, 1/n when one had all. */
  fairness: number;
  /** When the runners were done, sorted. */
  done: number[];
  /** What the latecomers waited, sorted. */
  waited: number[];
  /** 429s. */
  refused: number;
}

const minute = 60_000;
/** Half an answer's way. */
const travelMs = { least: 20, most: 60 };

export async function simulate(crowd: Crowd): Promise<Outcome> {
  const { runners, requests, window, latecomers = 0, requestsPerMinute = limit, backOff } = crowd;
  const clock = new VirtualClock();
  const random = seeded(crowd.seed ?? 1);
  // The service's minute has nothing to do with when the runners start.
  const intoMinute = window === "fixed" ? random() * minute : 0;
  const limiter = new RateLimiter(limit, window, { now: () => clock.now() + intoMinute });
  const idealMs = idealFor(runners * requests + latecomers, intoMinute);
  const letIn = new Array<number>(runners).fill(0);
  let refused = 0;

  const travel = () => clock.sleep(travelMs.least + random() * (travelMs.most - travelMs.least));
  const serve = async (onLetIn: () => void) => {
    await travel();
    const admitted = limiter.admit("POST /v2/instances", "token");
    if (admitted) onLetIn();
    else refused++;
    await travel();
    return { status: admitted ? 202 : 429, headers: {}, body: Buffer.from("{}"), partial: false };
  };
  const run = async (count: number, startMs: number, onLetIn = () => undefined as void) => {
    await clock.sleep(startMs);
    const send: Send = () => serve(onLetIn);
    const own = new RateLimit({ clock, random, requestsPerMinute, backOff });
    const exchange = chain([refuseErrors("https://service.test"), pace(own, clock)], send);
    const request = () => withRetry(call, () => exchange(call), { clock, random });
    await Promise.all(Array.from({ length: count }, request));
    return (clock.now() - startMs) / 1000;
  };

  const early = Array.from({ length: runners }, (_, runner) =>
    run(requests, random() * 1000, () => {
      if (clock.now() <= idealMs / 2) letIn[runner] = (letIn[runner] ?? 0) + 1;
    }),
  );
  const late = Array.from({ length: latecomers }, () => run(1, random() * idealMs));
  const [done, waited] = await passing(clock, Promise.all([early, late].map(sorted)));
  return {
    ...{ took: done?.at(-1) ?? 0, ideal: idealMs / 1000, fairness: jain(letIn) },
    ...{ done: done ?? [], waited: waited ?? [], refused },
  };
}

/** A whole window's worth goes out in no time, so what counts is how many windows are needed. */
function idealFor(requests: number, intoMinute: number): number {
  const further = Math.ceil(requests / limit) - 1;
  return further > 0 ? further * minute - intoMinute : 2 * travelMs.least;
}

async function passing<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let over = false;
  const outcome = work.finally(() => (over = true));
  while (!over) await clock.advance(1000);
  return outcome;
}

async function sorted(times: Promise<number>[]): Promise<number[]> {
  return (await Promise.all(times)).sort((a, b) => a - b);
}

/** The index of Jain, Chiu and Hawe (1984). */
function jain(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value ** 2, 0);
  return sum ** 2 / (values.length * squares);
}

const never = new AbortController().signal;
const path = "/v2/instances";
const call: Call = {
  ...{ method: "POST", path, endpoint: path, target: path, maxBytes: 0 },
  ...{ unsent: never, underWay: never, clean: (text) => text },
};
