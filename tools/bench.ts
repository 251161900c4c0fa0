/**
 * `npm run bench`: measures the time, requests and memory of the provider, and compares each figure with a peer's or a
 * limit's of the same run. It takes a quarter of an hour. Only a complete run replaces bench/results.json and the charts.
 *
 *   --quick                  measures less of everything, in three minutes
 *   --only waiting,startup   measures only these parts: waiting, limit, peers, refresh, startup, engine
 */
import { availableParallelism, totalmem } from "node:os";
import { join, relative } from "node:path";
import { format } from "prettier";
import { drawCharts } from "../bench/charts";
import { amount, round, type Figure, type Results } from "../bench/figure";
import { engine } from "../bench/parts/engine";
import { peers } from "../bench/parts/peers";
import { refresh } from "../bench/parts/refresh";
import { startup } from "../bench/parts/startup";
import { limit, waiting } from "../bench/parts/waiting";
import { gatherTools } from "../bench/tools";
import { writeWhole } from "./support/files";
import { oneOf, runTool, say } from "./support/main";
import { root, toolsDir } from "./support/paths";

const parts = { waiting, limit, peers, refresh, startup, engine };
const partNames = Object.keys(parts) as (keyof typeof parts)[];

async function main(quick: boolean, chosen: readonly (keyof typeof parts)[]): Promise<void> {
  using tools = await gatherTools();
  const figures: Figure[] = [];
  const start = performance.now();
  for (const name of chosen) {
    say(`Measuring ${name} …`);
    const measured = await parts[name](tools, quick);
    figures.push(...measured);
    print(name, measured);
  }
  say(`Took ${Math.round((performance.now() - start) / 1000)} s.`);

  const results: Results = {
    machine: {
      cores: availableParallelism(),
      memoryGB: Math.round(totalmem() / 2 ** 30),
      platform: `${process.platform} ${process.arch}`,
      node: process.versions.node,
      pulumi: tools.toolchain.version,
    },
    date: new Date().toISOString().slice(0, 10),
    figures,
  };
  const isCompleteRun = !quick && chosen.length === partNames.length;
  const folder = isCompleteRun ? root : join(toolsDir, "bench");
  const json = await format(JSON.stringify(results), { parser: "json", printWidth: 100 });
  const files = { "bench/results.json": json, ...drawCharts(figures) };
  for (const [path, content] of Object.entries(files)) {
    writeWhole(join(folder, path), content);
    say(relative(process.cwd(), join(folder, path)));
  }
  if (isCompleteRun) say("`npm run generate` updates docs/performance.md.");
}

function print(name: string, figures: readonly Figure[]): void {
  const rows = figures.map(({ what, unit, ours, against, theirs, ratio }) => ({
    [name]: what,
    ours: amount(ours.median, unit),
    best: amount(ours.min, unit),
    against,
    theirs: amount(theirs.median, unit),
    ratio: `${round(ratio)} ×`,
  }));
  console.table(rows);
}

runTool(
  { options: { quick: { type: "boolean", default: false }, only: { type: "string" } } },
  async ({ values: { quick, only } }) => {
    const requested = only?.split(",").map((name) => oneOf("part", partNames, name)) ?? partNames;
    await main(
      quick,
      partNames.filter((name) => requested.includes(name)),
    );
  },
);
