/**
 * `npm run bench`: measures the time, requests and memory of the provider, and compares each figure with a peer's or a
 * limit's of the same run. It takes twenty minutes, and replaces bench/results.json and the charts. Then it
 * simulates for five minutes how runners share the rate limit of one token, and replaces bench/scaling.json.
 *
 *   --quick                  measures less of nearly everything, in five minutes, and replaces nothing
 *   --only waiting,startup   runs only these parts: waiting, limit, peers, memory, startup, engine, commands, scaling. The
 *                            figures of the others stay, if all were measured on such a machine. Otherwise nothing is replaced
 */
import { availableParallelism, totalmem } from "node:os";
import { join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { format } from "prettier";
import { drawCharts } from "../bench/charts";
import {
  amount,
  figuresOf,
  readResults,
  round,
  type Figure,
  type Machine,
  type Results,
} from "../bench/figure";
import { commands } from "../bench/parts/commands";
import { engine } from "../bench/parts/engine";
import { memory } from "../bench/parts/memory";
import { peers } from "../bench/parts/peers";
import { scaling } from "../bench/parts/scaling";
import { startup } from "../bench/parts/startup";
import { limit, waiting } from "../bench/parts/waiting";
import { gatherTools } from "../bench/tools";
import { writeWhole } from "./support/files";
import { oneOf, runTool, say } from "./support/main";
import { root, toolsDir } from "./support/paths";

const measuredParts = { waiting, limit, peers, memory, startup, engine, commands };
const measuredNames = Object.keys(measuredParts) as MeasuredPart[];
type MeasuredPart = keyof typeof measuredParts;

async function measure(chosen: readonly MeasuredPart[], quick: boolean): Promise<void> {
  using tools = await gatherTools();
  const date = new Date().toISOString().slice(0, 10);
  const measured: Record<string, Results["parts"][string]> = {};
  for (const name of chosen) {
    say(`Measuring ${name} …`);
    const figures = await measuredParts[name](tools, quick);
    measured[name] = { date, figures };
    print(name, figures);
  }
  const machine: Machine = {
    cores: availableParallelism(),
    memoryGB: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    pulumi: tools.toolchain.version,
  };
  const known = readResults();
  const kept = !quick && isDeepStrictEqual(known.machine, machine) ? known.parts : {};
  const results: Results = { machine, parts: { ...kept, ...measured } };
  const isComplete = !quick && measuredNames.every((name) => name in results.parts);
  write(
    { "bench/results.json": await json(results), ...drawCharts(figuresOf(results)) },
    isComplete,
  );
}

async function simulateScaling(quick: boolean): Promise<void> {
  say("Simulating scaling …");
  const rows = await scaling(quick);
  for (const row of rows) console.log(row.join("  "));
  write({ "bench/scaling.json": await json(rows) }, !quick);
}

const json = (value: unknown) => format(JSON.stringify(value), { parser: "json", printWidth: 100 });

/** What is not complete goes into a folder that is not committed. */
function write(files: Readonly<Record<string, string>>, isComplete: boolean): void {
  const folder = isComplete ? root : join(toolsDir, "bench");
  for (const [path, content] of Object.entries(files)) {
    writeWhole(join(folder, path), content);
    say(relative(process.cwd(), join(folder, path)));
  }
  if (isComplete) say("`npm run generate` updates the tables in the pages.");
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
    const names = [...measuredNames, "scaling"] as const;
    const requested = only?.split(",").map((name) => oneOf("part", names, name)) ?? names;
    const measured = measuredNames.filter((name) => requested.includes(name));
    const start = performance.now();
    if (measured.length > 0) await measure(measured, quick);
    if (requested.includes("scaling")) await simulateScaling(quick);
    say(`Took ${Math.round((performance.now() - start) / 1000)} s.`);
  },
);
