/**
 * `npm run scaling`: simulates how several runners share one token's rate limit, and writes the table of
 * docs/scaling.md. It takes five minutes.
 *
 *   --quick   takes seconds, and prints the table instead of writing it
 */
import { join } from "node:path";
import { share, type Outcome } from "../tests/simulation/sharing";
import { filledPage, table } from "./docs/tables";
import { writeWhole } from "./support/files";
import { runTool, say } from "./support/main";
import { root } from "./support/paths";

async function main(quick: boolean): Promise<void> {
  const creates = quick ? 200 : 2000;
  const rows: string[][] = [];
  for (const runners of [1, 10, 100]) {
    for (const shareConfigured of runners > 1 ? [false, true] : [false]) {
      const outcomes: Outcome[] = [];
      for (const window of ["sliding", "fixed"] as const) {
        const latecomers = runners > 1 ? 20 : 0;
        outcomes.push(await share({ runners, creates, window, shareConfigured, latecomers }));
      }
      rows.push(rowOf(runners, shareConfigured, outcomes));
      say(rows.at(-1)?.join("  ") ?? "");
    }
  }
  const head = [
    "Runners",
    "Configured",
    "First–last done, s",
    "Latecomer's wait, s",
    "429s",
    "Timed out",
  ];
  const filled = table(head, rows);
  console.log(filled);
  if (quick) return;
  const page = "docs/scaling.md";
  writeWhole(join(root, page), await filledPage(page, { scaling: () => filled }));
  say(`wrote ${page}`);
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

runTool({ options: { quick: { type: "boolean", default: false } } }, ({ values }) =>
  main(values.quick),
);
