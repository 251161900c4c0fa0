/** A figure compares a measurement of this provider with that of a peer (another provider) or a limit. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../tools/support/paths";

export type Unit = "ms" | "s" | "requests" | "requests/s" | "MB";

/** Of repeated runs. */
interface Spread {
  min: number;
  median: number;
  runs: number;
}

export interface Figure {
  /** In a reader's words: "up of 90 instances". */
  what: string;
  unit: Unit;
  ours: Spread;
  /** The peer or the limit of `theirs`. */
  against: string;
  theirs: Spread;
  /** Of the medians: `ours` by `theirs`. */
  ratio: number;
}

export interface Results {
  machine: { cores: number; memoryGB: number; platform: string; node: string; pulumi: string };
  date: string;
  figures: readonly Figure[];
}

interface Measurements extends Pick<Figure, "what" | "unit" | "against"> {
  ours: readonly number[];
  theirs: readonly number[];
}

/** @throws if there are no values */
export function figure({ ours, theirs, ...rest }: Measurements): Figure {
  const [ourSpread, theirSpread] = [spread(ours), spread(theirs)];
  return {
    ...rest,
    ours: ourSpread,
    theirs: theirSpread,
    ratio: ourSpread.median / theirSpread.median,
  };
}

function spread(values: readonly number[]): Spread {
  if (values.length === 0) throw new Error("nothing was measured");
  return { min: Math.min(...values), median: median(values), runs: values.length };
}

/** The middle value, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [below = NaN, above = NaN] = sorted.slice(middle - 1 + (sorted.length % 2), middle + 1);
  return sorted.length % 2 === 1 ? below : (below + above) / 2;
}

/** By name, what measures one run. Undefined for a peer that this machine does not have. */
type Contestants = Readonly<Record<string, (() => Promise<unknown>) | undefined>>;
type Samples<C extends Contestants> = {
  [Name in keyof C]: Awaited<ReturnType<NonNullable<C[Name]>>>[];
};

/**
 * Runs the contestants in turn, so that other load affects all of them alike. Unless `warm` is false, a first round
 * only fills the caches.
 */
export async function takeTurns<C extends Contestants>(
  runs: number,
  contestants: C,
  { warm = true } = {},
): Promise<Samples<C>> {
  const names = Object.keys(contestants);
  const samples = Object.fromEntries(names.map((name) => [name, [] as unknown[]]));
  for (let run = warm ? -1 : 0; run < runs; run++) {
    for (const name of names) {
      const contestant = contestants[name];
      const sample = await contestant?.();
      if (contestant && run >= 0) samples[name]?.push(sample);
    }
  }
  return samples as Samples<C>;
}

export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

export function amount(value: number, unit: Unit): string {
  return `${round(value)} ${unit}`;
}

/** Rounds to three digits, and to integers from 100 on: a measurement is not more exact. */
export function round(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** What README.md shows, to help a user to choose a provider. */
const chosen: readonly (readonly [what: RegExp, against: RegExp])[] = [
  [/^1000 instances at once: until all/, /^the slowest/],
  [/^1000 instances within .*: until all/, /^the slowest/],
  [/^up of \d+ instances(: requests)?$/, /^a dynamic provider/],
  [/^refresh of 1000 instances: list requests/, /pages/],
  [/^preview with a refresh of \d+ instances$/, /^terraform/],
  [/^the single executable: pulumi up of one instance/, /^a Go provider/],
  [/^the single executable: size to download/, /^a Go provider/],
];

/** Returns the rows of the table in docs/performance.md ("all") or README.md ("chosen"). */
export function tableRows(which: "all" | "chosen"): string[][] {
  const json = readFileSync(join(root, "bench", "results.json"), "utf8");
  const { figures } = JSON.parse(json) as Results;
  return figures
    .filter(
      ({ what, against }) =>
        which === "all" ||
        chosen.some((patterns) => patterns[0].test(what) && patterns[1].test(against)),
    )
    .map(({ what, unit, ours, against, theirs, ratio }) => [
      what,
      amount(ours.median, unit),
      `${against}: ${amount(theirs.median, unit)}`,
      `${round(ratio)} ×`,
    ]);
}
