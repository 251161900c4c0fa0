/** Simulates runners that share one token's rate limit, each a process with its own stack (docs/scaling.md). */
import type { RateWindow } from "../../emulator/options";
import { documentedRequestsPerMinute } from "../../provider/api/contract";
import { Simulation, cursor, program, type Run } from "./simulation";
import { Stack } from "./engine";

export interface Sharing {
  runners: number;
  /** The creates of all runners together. A runner sends its share at once, like an `up` with a high `--parallel`. */
  creates: number;
  /** The service counts the requests of the last 60 s, or since the last full minute. */
  window: RateWindow;
  /** Requests per minute. The default is the documented limit. */
  limit?: number;
  /** Each runner has its share as `compute:requestsPerMinute`. */
  shareConfigured?: boolean;
  /** Runners that start later, with one create each. */
  latecomers?: number;
}

/** Times in seconds, sorted. */
export interface Outcome {
  /** The earliest time at which the limit allows all instances of the early runners to be ready. */
  ideal: number;
  /** How long each runner but the latecomers took. */
  done: number[];
  /** How long each latecomer took. */
  waited: number[];
  refused: number;
  failed: number;
}

const provisioningSeconds = 5;
/** The second of the service's minute at which the runners start. */
const intoMinute = { sliding: 0, fixed: 20 };

export async function share(sharing: Sharing): Promise<Outcome> {
  const { runners, creates, window, shareConfigured = false, latecomers = 0 } = sharing;
  const { limit = documentedRequestsPerMinute } = sharing;
  const rate = { requestsPerMinute: limit, rateWindow: window };
  using simulation = new Simulation({ ...cursor, ...rate, provisioningSeconds });
  // The service admits `limit` POSTs in the first minute, and as many in each further minute.
  const furtherMinutes = Math.ceil(creates / limit) - 1;
  const ideal = Math.max(0, furtherMinutes * 60 - intoMinute[window]) + provisioningSeconds;
  const requestsPerMinute = shareConfigured ? Math.floor(limit / runners) : limit;
  const settings = { ...cursor, requestsPerMinute };
  const runs: Run[] = [];
  const up = async (name: string, count: number, startMs: number) => {
    await new Promise<void>((start) => simulation.timeline.after(startMs, start));
    const startSeconds = simulation.seconds;
    const run = simulation.begin(settings, new Stack(name));
    runs.push(run);
    await run.engine.up(program(count, name));
    return simulation.seconds - startSeconds;
  };
  await simulation.timeline.pass(intoMinute[window] * 1000);
  const indexes = (count: number) => Array.from({ length: count }, (_, n) => n);
  const early = indexes(runners).map((n) =>
    up(`early${n}`, Math.floor(creates / runners), (n * 1000) / runners),
  );
  const late = indexes(latecomers).map((n) =>
    up(`late${n}`, 1, ((n + 0.5) / latecomers) * ideal * 1000),
  );
  const [done, waited] = await simulation.timeline.untilEnd(
    Promise.all([early, late].map((them) => Promise.all(them))),
  );
  const sorted = (times: number[] = []) => times.sort((a, b) => a - b);
  const failed = runs.flatMap(({ engine }) => engine.failed).length;
  return { ideal, done: sorted(done), waited: sorted(waited), refused: simulation.refused, failed };
}
