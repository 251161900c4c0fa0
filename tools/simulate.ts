/**
 * `npm run simulate -- --minutes 30`: the whole provider, on a virtual clock, with a network, disks and an
 * engine in memory, through histories of runs in which anything goes wrong, with new seeds, on every core.
 * Says what was played, and prints the command that plays a broken promise again.
 *
 * --histories N: so many, instead of minutes. --from SEED: the first seed, for the same search once more.
 * --seed SEED --path PATH: one history, in words, as printed for a broken promise.
 */
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { commandFor, search, tell, type Found } from "../tests/simulation/search";
import { runTool, say, ToolError } from "./support/main";

/** Histories that one process plays from one seed. */
const batch = 1000;

async function searchAll(from: number, isEnough: (histories: number) => boolean): Promise<Found> {
  const sum: Found = { histories: 0, runs: 0, instances: 0, named: 0 };
  let seed = from;
  let said = 0;
  const worker = () =>
    new Promise<void>((resolve, reject) => {
      const child = fork(__filename, ["--worker"], { execArgv: process.execArgv });
      const next = () => {
        if (sum.broken || isEnough(sum.histories)) return void child.disconnect();
        child.send(seed++);
      };
      child.on("message", (found: Found) => {
        const { histories, runs, instances, named, broken } = found;
        sum.histories += histories;
        sum.runs += runs;
        sum.instances += instances;
        sum.named += named;
        if (broken) sum.broken ??= broken;
        if (sum.histories >= said + 20_000) {
          said = sum.histories;
          say(`  ${said} histories`);
        }
        next();
      });
      child.on("error", reject);
      child.on("exit", (code) =>
        code === 0 ? resolve() : reject(new ToolError("a worker ended")),
      );
      next();
    });
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return sum;
}

function work(): void {
  process.on("message", (seed: number) => {
    void search(seed, batch).then((found) => process.send?.(found));
  });
}

async function playAgain(seed: number, path: string): Promise<void> {
  const { broken } = await search(seed, batch, path);
  if (!broken) {
    console.log("All promises hold in this history now.");
    return;
  }
  for (const line of await tell(broken.history)) console.log(line);
  throw new ToolError(`A promise is broken: ${broken.promise}`);
}

if (process.argv.includes("--worker")) work();
else {
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
      for (const line of await tell(broken.history)) console.log(line);
      throw new ToolError(`A promise is broken: ${broken.promise}\nAgain: ${commandFor(broken)}`);
    },
  );
}
