/**
 * `npm run bench`: what the provider costs in time, requests and memory, each figure beside a peer's
 * or a limit's of the same run. `--quick` takes two minutes, `--only waiting,startup` some parts; only
 * a whole run replaces bench/results.json and the charts.
 */
import { availableParallelism, totalmem } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { format } from "prettier";
import { partNames, type PartName, type PartResult, type Results } from "../bench/figure";
import { refresh } from "../bench/parts/refresh";
import { startup } from "../bench/parts/startup";
import { throughput } from "../bench/parts/throughput";
import { waiting } from "../bench/parts/waiting";
import { drawCharts } from "../bench/report/charts";
import { printed } from "../bench/report/print";
import { gatherTools, type Tools } from "../bench/tools";
import { writeWhole } from "./support/files";
import { runTool, say, ToolError } from "./support/main";
import { root, toolsDir } from "./support/paths";

const parts: Record<PartName, (tools: Tools, quick: boolean) => Promise<PartResult>> = {
  waiting,
  refresh,
  startup,
  throughput,
};

async function main(args: readonly string[]): Promise<void> {
  const { quick, only } = options(args);
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
    console.log(printed(name, result));
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

function options(args: readonly string[]): { quick: boolean; only: readonly PartName[] } {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: "boolean", default: false }, only: { type: "string" } },
  });
  const only = values.only?.split(",") ?? partNames;
  const unknown = only.find((name) => !(partNames as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new ToolError(`There is no part "${unknown}". There are: ${partNames.join(", ")}`);
  }
  return { quick: values.quick, only: partNames.filter((name) => only.includes(name)) };
}

runTool(main);
