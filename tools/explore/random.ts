/** Plays random histories of several runs of the whole provider, on a virtual clock, on every core. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Found } from "../../tests/simulation/search";
import type { Batch } from "../../tests/simulation/worker";
import { writeBundle } from "../support/bundle";
import { temporaryFolder } from "../support/files";
import { say, ToolError } from "../support/main";

const batchSize = 1000;
/** Node keeps every AbortSignal of a killed plugin in memory, so a process ends after this many. */
const batchesPerProcess = 10;

/** Plays batches on all cores, until a promise is broken, or `isEnough` accepts the number of histories begun. */
async function searchAll(from: number, isEnough: (begun: number) => boolean): Promise<Found> {
  const sum: Found = { histories: 0, runs: 0, instances: 0, named: 0 };
  using temporary = temporaryFolder();
  const script = join(temporary.path, "worker.js");
  await writeBundle("tests/simulation/worker.ts", script);
  let begun = 0;
  const isOver = () => sum.broken !== undefined || isEnough(begun * batchSize);
  const runProcess = async () => {
    const child = fork(script, { execArgv: [] });
    let batchesLeft = batchesPerProcess;
    const next = () => {
      if (batchesLeft-- === 0 || isOver()) return void child.disconnect();
      child.send({ seed: from + begun++, histories: batchSize } satisfies Batch);
    };
    child.on("message", (found: Found) => {
      for (const what of ["histories", "runs", "instances", "named"] as const)
        sum[what] += found[what];
      if (found.broken) sum.broken ??= found.broken;
      if (sum.histories % 20_000 === 0) say(`  ${sum.histories} histories`);
      next();
    });
    next();
    const [code] = (await once(child, "exit")) as [number | null];
    if (code === 0) return;
    throw new ToolError(`A process that plays histories ended with exit code ${code}.`);
  };
  const useCore = async () => {
    while (!isOver()) await runProcess();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, useCore));
  return sum;
}

/** Loaded only when needed: it takes longer than the rest of the start. */
const loadPlayer = () => import("../../tests/simulation/search.js");

/**
 * Ends after this number of minutes, or after this number of histories if it is given. The default of `from`, the first
 * seed, is a new one. @throws {ToolError} if a promise is broken
 */
export async function exploreRandomly(limits: {
  minutes?: number | undefined;
  histories?: number | undefined;
  from?: number | undefined;
}): Promise<void> {
  const start = Date.now();
  const { minutes = Infinity, histories = Infinity, from = start % 1_000_000_000 } = limits;
  say(`Searching from seed ${from} on …`);
  const { broken, ...sum } = await searchAll(
    from,
    (begun) => begun >= histories || Date.now() - start > minutes * 60_000,
  );
  const seconds = Math.round((Date.now() - start) / 1000);
  const { histories: played, runs, instances, named } = sum;
  console.log(
    `${played} histories of ${runs} runs in ${seconds} s: ${instances} instances created, ${named} of them named in a message`,
  );
  if (!broken) return console.log("lost 0, created twice 0, wrongly forgotten 0");
  const { commandFor, tell } = await loadPlayer();
  for (const line of await tell(broken.history)) console.log(line);
  throw new ToolError(
    `A promise is broken: ${broken.promise}\nTo see this history again: ${commandFor(broken)}`,
  );
}

/** `history` is what a broken promise prints: SEED:PATH. @throws {ToolError} if it breaks a promise */
export async function traceRandom(history: string): Promise<void> {
  const { search, tell } = await loadPlayer();
  const [, seed, path] = /^(\d+):(.*)$/.exec(history) ?? [];
  const { broken } = await search(Number(seed), batchSize, path);
  if (!broken) {
    console.log("All promises hold in this history now.");
    return;
  }
  for (const line of await tell(broken.history)) console.log(line);
  throw new ToolError(`A promise is broken: ${broken.promise}`);
}
