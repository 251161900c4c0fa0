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

/** Where and with what the figures were measured. */
export interface Machine {
  cores: number;
  memoryGB: number;
  platform: string;
  node: string;
  pulumi: string;
}

/** The content of bench/results.json. */
export interface Results {
  machine: Machine;
  /** By the name of the part. What a figure is compared with was measured in the same run. */
  parts: Readonly<Record<string, { date: string; figures: readonly Figure[] }>>;
}

const resultsPath = join(root, "bench", "results.json");

export function readResults(): Results {
  return JSON.parse(readFileSync(resultsPath, "utf8")) as Results;
}

export function figuresOf({ parts }: Results): Figure[] {
  return Object.values(parts).flatMap(({ figures }) => figures);
}

/** @throws if there are no values */
export function figure(
  what: string,
  unit: Unit,
  ours: readonly number[],
  against: string,
  theirs: readonly number[],
): Figure {
  const [ourSpread, theirSpread] = [spread(ours), spread(theirs)];
  const ratio = ourSpread.median / theirSpread.median;
  return { what, unit, against, ours: ourSpread, theirs: theirSpread, ratio };
}

function spread(values: readonly number[]): Spread {
  if (values.length === 0) throw new Error("nothing was measured");
  return { min: Math.min(...values), median: median(values), runs: values.length };
}

/** The middle value, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [below = NaN, above = NaN] = [
    sorted.at((sorted.length - 1) / 2),
    sorted.at(sorted.length / 2),
  ];
  return (below + above) / 2;
}

/**
 * Measures the contestants in turn, so that other load affects all of them alike. Unless `warm` is false, a first round
 * only fills the caches. A peer that this machine does not have is undefined, and has no samples.
 */
export async function takeTurns<Name extends string, Sample>(
  runs: number,
  contestants: Readonly<Record<Name, (() => Promise<Sample>) | undefined>>,
  { warm = true } = {},
): Promise<Record<Name, Sample[]>> {
  const names = Object.keys(contestants) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    Sample[]
  >;
  for (let run = warm ? -1 : 0; run < runs; run++) {
    for (const name of names) {
      const sample = await contestants[name]?.();
      if (sample !== undefined && run >= 0) samples[name].push(sample);
    }
  }
  return samples;
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

/**
 * Returns what docs/performance.md says of each measurement, beside what it is compared with. Measurements that differ only in a
 * number, such as that of the instances, are one entry.
 */
export function measurements(): { name: string; text: string }[] {
  const series = Object.groupBy(
    figuresOf(readResults()),
    ({ what, unit }) => `${what.replace(/\d+/, "#").replace("instance ", "instances ")} (${unit})`,
  );
  return Object.values(series).map((figures = []) => {
    const whats = [...new Set(figures.map(({ what }) => what))];
    const ours = whats.flatMap((what) => figures.find((one) => one.what === what) ?? []);
    const amounts = (values: number[]) => `${values.map(round).join(", ")} ${ours[0]?.unit}`;
    const peers = Object.entries(Object.groupBy(figures, ({ against }) => against));
    const beside = peers.map(([against, of = []]) => {
      const ratios = of.map(({ ratio }) => round(ratio)).join(", ");
      return `${against}: ${amounts(of.map(({ theirs }) => theirs.median))} (${ratios} ×)`;
    });
    const own = amounts(ours.map((one) => one.ours.median));
    return { name: `**${nameOf(whats)}**`, text: [own, ...beside].join("; ") };
  });
}

/** Joins texts that differ only in their first number: "100, 300 new instances". */
function nameOf(whats: readonly string[]): string {
  const [last = "", ...others] = whats.toReversed();
  const numbers = others.toReversed().map((what) => /\d+/.exec(what)?.[0]);
  return last.replace(/\d+/, (number) => [...numbers, number].join(", "));
}
