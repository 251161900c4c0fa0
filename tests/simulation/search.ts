/** Plays random histories from a seed, and shortens one that breaks a promise. */
import fc from "fast-check";
import { history, type History } from "./history";
import { runHistory } from "./runHistory";

/** What a search has found. */
export interface Found {
  histories: number;
  runs: number;
  instances: number;
  /** Instances that are in no state, and were named in a message. */
  named: number;
  /** `path` is where fast-check finds the history for the seed. */
  broken?: { seed: number; path: string; promise: string; history: History };
}

// A search makes thousands of errors whose stacks nobody reads.
Error.stackTraceLimit = 0;

class Broken extends Error {}

/** With `path`, plays only the history that an earlier search found at that path. */
export async function search(seed: number, histories: number, path?: string): Promise<Found> {
  const found: Found = { histories: 0, runs: 0, instances: 0, named: 0 };
  const keepsPromises = fc.asyncProperty(history, async (played) => {
    const { violations, figures, runs } = await runHistory(played);
    found.histories++;
    found.runs += runs;
    found.instances += figures.made;
    found.named += figures.named;
    if (violations.length > 0) throw new Broken(violations.join("\n"));
  });
  const result = await fc.check(keepsPromises, {
    seed,
    numRuns: histories,
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

export function commandFor({ seed, path }: NonNullable<Found["broken"]>): string {
  return `npm run simulate -- --seed ${seed} --path ${path}`;
}

export async function tell(played: History): Promise<string[]> {
  const lines = [JSON.stringify({ ...played, runs: played.runs.length })];
  await runHistory(played, (line) => lines.push(line));
  return lines;
}
