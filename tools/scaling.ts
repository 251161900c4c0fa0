/**
 * `npm run scaling`: how many runners share one token's limit, simulated, in about a minute; writes the
 * table and the chart of docs/scaling.md.
 *
 *   --quick   takes seconds, and only prints
 */
import { join } from "node:path";
import { drawScaling, wait90 } from "../bench/scaling/chart";
import { measureScaling, type Row } from "../bench/scaling/measure";
import { pageWithTables, table } from "./docs/tables";
import { writeWhole } from "./support/files";
import { runTool, say } from "./support/main";
import { root } from "./support/paths";

const requests = 10_000;

async function main(quick: boolean): Promise<void> {
  const rows = await measureScaling(quick ? requests / 5 : requests);
  console.log(tableOf(rows));
  if (quick) return;

  const page = "docs/scaling.md";
  writeWhole(join(root, page), await pageWithTables(page, { scaling: () => tableOf(rows) }));
  const title = `${requests.toLocaleString("en")} creates by 10 and by 100 runners that share one token`;
  writeWhole(join(root, "docs", "scaling.svg"), drawScaling(rows, title));
  say("wrote docs/scaling.md and docs/scaling.svg");
}

/** A line for each number of runners and choice; in its cells, the sliding window · the fixed one. */
function tableOf(rows: readonly Row[]): string {
  const lines = rows
    .filter(({ window }) => window === "sliding")
    .filter(({ runners }, n) => runners > 1 || n === 0)
    .map((row) => {
      const { choice, runners } = row;
      const fixed = rows.find(
        (other) => other.window === "fixed" && other.choice === choice && other.runners === runners,
      );
      const both = [row, ...(fixed ? [fixed] : [])];
      const cell = (show: (row: Row) => string) => both.map(show).join(" · ");
      return [
        String(runners),
        runners > 1 ? choice : "any",
        cell(({ outcome }) => (outcome.took / outcome.ideal).toFixed(2)),
        cell(({ outcome }) => outcome.fairness.toFixed(2)),
        cell(({ outcome: { done } }) => `${seconds(done[0])}–${seconds(done.at(-1))}`),
        runners > 1 ? cell((each) => seconds(wait90(each))) : "–",
        cell(({ outcome }) => outcome.refused.toLocaleString("en")),
      ];
    });
  const head = ["Runners", "After a 429", "Time / ideal", "Fairness", "First–last done, s"];
  return table([...head, "Latecomer's wait, s", "429s"], lines);
}

function seconds(value = 0): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}

runTool({ options: { quick: { type: "boolean", default: false } } }, ({ values }) =>
  main(values.quick),
);
