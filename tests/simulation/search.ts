/** Plays histories from a seed; of one that breaks a promise, gives the shortest that still does. */
import fc from "fast-check";
import { history, type History } from "./history";
import { runHistory } from "./runHistory";

export interface Found {
  histories: number;
  runs: number;
  instances: number;
  /** In no state, and known from what was printed. */
  named: number;
  broken?: { seed: number; path: string; promise: string; history: History };
}

/** Errors are made by the thousand here, and nobody reads where. */
Error.stackTraceLimit = 0;

class Broken extends Error {}

export async function search(seed: number, histories: number, path?: string): Promise<Found> {
  const found: Found = { histories: 0, runs: 0, instances: 0, named: 0 };
  const property = fc.asyncProperty(history, async (it) => {
    const { violations, figures, runs } = await runHistory(it);
    found.histories++;
    found.runs += runs;
    found.instances += figures.made;
    found.named += figures.named;
    if (violations.length > 0) throw new Broken(violations.join("\n"));
  });
  const result = await fc.check(property, {
    ...{ seed, numRuns: histories },
    ...(path === undefined ? {} : { path, endOnFailure: true }),
  });
  if (result.failed) {
    const [shortest] = result.counterexample ?? [];
    const { errorInstance, counterexamplePath } = result;
    if (!shortest || counterexamplePath === null) throw errorInstance;
    const promise = (errorInstance as Error).message;
    found.broken = { seed, path: counterexamplePath, promise, history: shortest };
  }
  return found;
}

/** How one plays it again. */
export function commandFor({ seed, path }: NonNullable<Found["broken"]>): string {
  return `npm run simulate -- --seed ${seed} --path ${path}`;
}

/** A history in words. */
export async function tell(it: History): Promise<string[]> {
  const lines = [JSON.stringify({ ...it, runs: it.runs.length })];
  await runHistory(it, (line) => lines.push(line));
  return lines;
}
