/**
 * Plays random histories from a seed. If one breaks a promise, it is reduced to a short history that still breaks
 * one.
 */
import fc from "fast-check";
import { history, type History } from "./history";
import { runHistory } from "./runHistory";

/** The figures of the histories played, and a history that broke a promise, if any. */
export interface Found {
  histories: number;
  runs: number;
  instances: number;
  /** The number of instances that are in no state and were named in a message. */
  named: number;
  /** `path` is where fast-check finds the history for the seed. */
  broken?: { seed: number; path: string; promise: string; history: History };
}

// A search creates thousands of errors whose stacks nobody reads.
Error.stackTraceLimit = 0;

class Broken extends Error {}

/** Plays `histories` histories. With `path`, plays only the one that an earlier search found at that path. */
export async function search(seed: number, histories: number, path?: string): Promise<Found> {
  const found: Found = { histories: 0, runs: 0, instances: 0, named: 0 };
  const keepsPromises = fc.asyncProperty(history, async (it) => {
    const { violations, figures, runs } = await runHistory(it);
    found.histories++;
    found.runs += runs;
    found.instances += figures.made;
    found.named += figures.named;
    if (violations.length > 0) throw new Broken(violations.join("\n"));
  });
  const result = await fc.check(keepsPromises, {
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

/** The command that plays a broken history again. */
export function commandFor({ seed, path }: NonNullable<Found["broken"]>): string {
  return `npm run simulate -- --seed ${seed} --path ${path}`;
}

/** Plays a history, and returns its trace. */
export async function tell(it: History): Promise<string[]> {
  const lines = [JSON.stringify({ ...it, runs: it.runs.length })];
  await runHistory(it, (line) => lines.push(line));
  return lines;
}
