/** The comparison of docs/scaling.md: the same number of requests by more and more runners. */
import type { RateWindow } from "../../emulator/options";
import { documentedRequestsPerMinute as limit } from "../../provider/api/contract";
import { backOffs } from "./backOffs";
import { simulate, type Crowd, type Outcome } from "./simulate";

export interface Row {
  choice: string;
  runners: number;
  window: RateWindow;
  outcome: Outcome;
}

const windows: readonly RateWindow[] = ["sliding", "fixed"];
const crowds: readonly number[] = [1, 10, 100];
const latecomers = 50;

/** What is told of the limit, and what a 429 does, by the name that table and chart give it. */
const choices: Record<string, (runners: number) => Partial<Crowd>> = {
  "pause, then spread (ours)": () => ({}),
  "ours, each told its share": (runners) => ({ requestsPerMinute: Math.floor(limit / runners) }),
  "pause, then burst": () => ({ backOff: backOffs.pauseAndBurst }),
  "full jitter, then burst": () => ({ backOff: backOffs.fullJitter }),
  "halved rate, no pause": () => ({ backOff: backOffs.halvedRate }),
};

export async function measureScaling(requests: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const runners of crowds) {
    for (const window of windows) {
      for (const [choice, crowd] of Object.entries(choices)) {
        const outcome = await simulate({
          ...{ runners, requests: requests / runners, window },
          ...(runners > 1 && { latecomers }),
          ...crowd(runners),
        });
        rows.push({ choice, runners, window, outcome });
      }
    }
  }
  return rows;
}
