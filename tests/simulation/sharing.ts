/** Runners that share one token's limit, each a process with a stack of its own: for docs/scaling.md. */
import type { RateWindow } from "../../emulator/options";
import { documentedRequestsPerMinute } from "../../provider/api/contract";
import { Simulation, cursor, program, type Run } from "./simulation";
import { Stack } from "./engine";

export interface Sharing {
  runners: number;
  /** Of all runners together, each all at once: an `up` with a high `--parallel`. */
  creates: number;
  window: RateWindow;
  /** Requests a minute; the documented limit, if left out. */
  limit?: number;
  /** Each is told its share of the limit (`compute:requestsPerMinute`). */
  told?: boolean;
  /** Runners that come on the way, with one create each. */
  latecomers?: number;
}

/** Times in seconds, sorted. */
export interface Outcome {
  /** The first moment at which the limit lets all but the latecomers' be made, and be ready. */
  ideal: number;
  /** When each runner was done. */
  done: number[];
  waited: number[];
  /** 429s. */
  refused: number;
  /** Creates that were not ready within their time-out. */
  failed: number;
}

const provisioningSeconds = 5;
/** The service's minute has nothing to do with when the runners start. */
const intoMinute = { sliding: 0, fixed: 20 };

export async function share(sharing: Sharing): Promise<Outcome> {
  const { runners, creates, window, told = false, latecomers = 0 } = sharing;
  const { limit = documentedRequestsPerMinute } = sharing;
  const rate = { requestsPerMinute: limit, rateWindow: window };
  using simulation = new Simulation({ ...cursor, ...rate, provisioningSeconds });
  const further = Math.ceil(creates / limit) - 1;
  const ideal = Math.max(0, further * 60 - intoMinute[window]) + provisioningSeconds;
  const requestsPerMinute = told ? Math.floor(limit / runners) : limit;
  const settings = { ...cursor, requestsPerMinute };
  const runs: Run[] = [];
  const up = async (name: string, count: number, startMs: number) => {
    await new Promise<void>((start) => simulation.timeline.at(startMs, start));
    const begun = simulation.seconds;
    const run = simulation.begin(settings, new Stack(name));
    runs.push(run);
    await run.engine.up(program(count, name));
    return simulation.seconds - begun;
  };
  await simulation.timeline.pass(intoMinute[window] * 1000);
  const every = (count: number) => Array.from({ length: count }, (_, n) => n);
  const early = every(runners).map((n) =>
    up(`early${n}`, Math.floor(creates / runners), (n * 1000) / runners),
  );
  const late = every(latecomers).map((n) =>
    up(`late${n}`, 1, ((n + 0.5) / latecomers) * ideal * 1000),
  );
  const [done, waited] = await simulation.over(
    Promise.all([early, late].map((them) => Promise.all(them))),
  );
  const sorted = (times: number[] = []) => times.sort((a, b) => a - b);
  const failed = runs.flatMap(({ engine }) => engine.failed).length;
  return { ideal, done: sorted(done), waited: sorted(waited), refused: simulation.refused, failed };
}
