/**
 * `npm run simulate -- --minutes 30`: the whole provider, on a virtual clock, with a network, disks and an
 * engine in memory, through histories of runs in which anything goes wrong, with new seeds, on every core.
 * Says what was played, and prints the command that plays a broken promise again.
 *
 * --histories N: so many, instead of minutes. --from SEED: the first seed, for the same search once more.
 * --seed SEED --path PATH: one history, in words, as printed for a broken promise.
 */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Found } from "../tests/simulation/search";
import type { Batch } from "../tests/simulation/worker";
import { bundle } from "./support/bundle";
import { writeWhole } from "./support/files";
import { runTool, say, ToolError } from "./support/main";

/** Histories that one process plays from one seed. */
const batch = 1000;
/** Node keeps an AbortSignal that still has a listener, as those of killed plugins have. */
const batchesOfProcess = 10;

/** Plays batches from `from` on, as many at once as there are cores, until `isEnough` of those begun. */
async function searchAll(from: number, isEnough: (begun: number) => boolean): Promise<Found> {
  const sum: Found = { histories: 0, runs: 0, instances: 0, named: 0 };
  const folder = mkdtempSync(join(tmpdir(), "compute-simulation-"));
  // Bundled, it takes a fifth less time for a history.
  const script = join(folder, "worker.js");
  const { files } = await bundle("tests/simulation/worker.ts", script);
  for (const { path, text } of files) writeWhole(path, text);
  let begun = 0;
  const isOver = () => sum.broken !== undefined || isEnough(begun * batch);
  const work = () =>
    new Promise<void>((resolve, reject) => {
      const child = fork(script, { execArgv: [] });
      let left = batchesOfProcess;
      const next = () => {
        if (left-- === 0 || isOver()) return void child.disconnect();
        child.send({ seed: from + begun++, histories: batch } satisfies Batch);
      };
      child.on("message", (found: Found) => {
        const { histories, runs, instances, named, broken } = found;
        sum.histories += histories;
        sum.runs += runs;
        sum.instances += instances;
        sum.named += named;
        if (broken) sum.broken ??= broken;
        if (sum.histories % 20_000 === 0) say(`  ${sum.histories} histories`);
        next();
      });
      child.on("error", reject);
      child.on("exit", (code) =>
        code === 0 ? resolve() : reject(new ToolError("a process that plays histories has ended")),
      );
      next();
    });
  const core = async () => {
    while (!isOver()) await work();
  };
  try {
    await Promise.all(Array.from({ length: availableParallelism() }, core));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return sum;
}

/** Only where a history is told of: to load the whole provider here takes longer than the rest of the start. */
const player = () => import("../tests/simulation/search.js");

async function playAgain(seed: number, path: string): Promise<void> {
  const { search, tell } = await player();
  const { broken } = await search(seed, batch, path);
  if (!broken) {
    console.log("All promises hold in this history now.");
    return;
  }
  for (const line of await tell(broken.history)) console.log(line);
  throw new ToolError(`A promise is broken: ${broken.promise}`);
}

runTool(
  {
    options: {
      minutes: { type: "string", default: "5" },
      histories: { type: "string" },
      from: { type: "string" },
      seed: { type: "string" },
      path: { type: "string" },
    },
  },
  async ({ values: { minutes, histories, from, seed, path } }) => {
    if (seed !== undefined && path !== undefined) return playAgain(Number(seed), path);
    const begun = Date.now();
    const first = from === undefined ? begun % 1_000_000_000 : Number(from);
    say(`searching from seed ${first} on …`);
    const isEnough = (played: number) =>
      histories === undefined
        ? Date.now() - begun > Number(minutes) * 60_000
        : played >= Number(histories);
    const { broken, ...sum } = await searchAll(first, isEnough);
    const seconds = Math.round((Date.now() - begun) / 1000);
    const { histories: played, runs, instances, named } = sum;
    console.log(
      `${played} histories of ${runs} runs in ${seconds} s: ${instances} instances made, ${named} of them named to the person`,
    );
    if (!broken) return console.log("lost 0, doubled 0, wrongly forgotten 0");
    const { commandFor, tell } = await player();
    for (const line of await tell(broken.history)) console.log(line);
    throw new ToolError(`A promise is broken: ${broken.promise}\nAgain: ${commandFor(broken)}`);
  },
);
