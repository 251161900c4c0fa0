/**
 * `npm run bench`: what the provider costs in time, requests and memory, each figure beside a peer's
 * or a limit's of the same run. A quarter of an hour; only a whole run replaces bench/results.json and
 * the charts.
 *
 *   --quick                  less of everything, in three minutes
 *   --only waiting,startup   some parts
 */
import { availableParallelism, totalmem } from "node:os";
import { join, relative } from "node:path";
import { format } from "prettier";
import {
  amount,
  partNames,
  round,
  type PartName,
  type PartResult,
  type Results,
} from "../bench/figure";
import { refresh } from "../bench/parts/refresh";
import { startup } from "../bench/parts/startup";
import { throughput } from "../bench/parts/throughput";
import { limit, waiting } from "../bench/parts/waiting";
import { drawCharts } from "../bench/report/charts";
import { gatherTools, type Tools } from "../bench/tools";
import { writeWhole } from "./support/files";
import { oneOf, runTool, say } from "./support/main";
import { root, toolsDir } from "./support/paths";

const parts: Record<PartName, (tools: Tools, quick: boolean) => Promise<PartResult>> = {
  waiting,
  limit,
  refresh,
  startup,
  throughput,
};

async function main(quick: boolean, only: readonly PartName[]): Promise<void> {
  using tools = await gatherTools();
  const results: Results = {
    machine: {
      cores: availableParallelism(),
      memoryGB: Math.round(totalmem() / 2 ** 30),
      platform: `${process.platform} ${process.arch}`,
      node: process.versions.node,
      pulumi: tools.toolchain.version,
    },
    date: new Date().toISOString().slice(0, 10),
    quick,
    parts: {},
  };
  const start = performance.now();
  for (const name of only) {
    say(`Measuring ${name} …`);
    const result = (results.parts[name] = await parts[name](tools, quick));
    print(name, result);
  }
  say(`Took ${Math.round((performance.now() - start) / 1000)} s.`);

  // What is committed is of one whole run.
  const isWhole = !quick && only.length === partNames.length;
  const folder = isWhole ? root : join(toolsDir, "bench");
  const json = await format(JSON.stringify(results), { parser: "json", printWidth: 100 });
  const files = { "bench/results.json": json, ...drawCharts(results) };
  for (const [path, content] of Object.entries(files)) {
    writeWhole(join(folder, path), content);
    say(relative(process.cwd(), join(folder, path)));
  }
  if (isWhole) say("`npm run generate` brings the README along.");
}

function print(name: PartName, { figures, missing }: PartResult): void {
  const rows = figures.map(({ what, unit, ours, against, theirs, ratio, aim }) => ({
    ...{ [name]: what, ours: amount(ours.median, unit), best: amount(ours.min, unit) },
    ...{ against, theirs: amount(theirs.median, unit), ratio: `${round(ratio)} ×` },
    aim: aim === undefined ? "" : `${round(aim)}: ${ratio <= aim ? "met" : "MISSED"}`,
  }));
  console.table(rows);
  for (const { what, why } of missing) console.log(`not measured: ${what} (${why})`);
}

runTool(
  { options: { quick: { type: "boolean", default: false }, only: { type: "string" } } },
  async ({ values: { quick, only } }) => {
    const asked = only?.split(",").map((name) => oneOf("part", partNames, name)) ?? partNames;
    await main(
      quick,
      partNames.filter((name) => asked.includes(name)),
    );
  },
);
