/** Simulates how several runners share one token's rate limit, for the table of docs/scaling.md. */
import { share, type Outcome } from "../../tests/simulation/sharing";

const head = [
  "Runners",
  "Configured",
  "First–last done, s",
  "Latecomer's wait, s",
  "429s",
  "Timed out",
];

/** Returns the head and the rows of the table, which are the same on every machine. */
export async function scaling(isQuick: boolean): Promise<readonly (readonly string[])[]> {
  const creates = isQuick ? 200 : 2000;
  const rows = [head];
  for (const runners of [1, 10, 100]) {
    for (const shareConfigured of runners > 1 ? [false, true] : [false]) {
      const outcomes: Outcome[] = [];
      for (const window of ["sliding", "fixed"] as const) {
        const latecomers = runners > 1 ? 20 : 0;
        outcomes.push(await share({ runners, creates, window, shareConfigured, latecomers }));
      }
      rows.push(rowOf(runners, shareConfigured, outcomes));
    }
  }
  return rows;
}

/** Each cell shows the outcome with a sliding window, then "·", then that with a fixed one. */
function rowOf(runners: number, shareConfigured: boolean, outcomes: readonly Outcome[]): string[] {
  const cell = (show: (outcome: Outcome) => string) => outcomes.map(show).join(" · ");
  const seconds = (value = NaN) => String(Math.round(value));
  return [
    String(runners),
    shareConfigured ? "its share" : "the limit",
    cell(({ done }) => `${seconds(done[0])}–${seconds(done.at(-1))}`),
    // The wait that nine of ten latecomers did not exceed.
    runners > 1 ? cell(({ waited }) => seconds(waited[Math.ceil(waited.length * 0.9) - 1])) : "–",
    cell(({ refused }) => refused.toLocaleString("en")),
    cell(({ failed }) => String(failed)),
  ];
}
