/** A figure: a measurement of this provider beside the same of a peer, or beside a physical limit. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../tools/support/paths";

export type Unit = "ms" | "s" | "requests" | "requests/s" | "MB";

/** What repeated runs gave. */
interface Spread {
  min: number;
  median: number;
  runs: number;
}

export interface Figure {
  /** What is measured, in a reader's words: "up of 90 instances". */
  what: string;
  unit: Unit;
  ours: Spread;
  /** What it is compared with: a peer, or the limit. */
  against: string;
  theirs: Spread;
  /** Ours divided by theirs, of the medians. */
  ratio: number;
}

/** The content of bench/results.json. */
export interface Results {
  machine: { cores: number; memoryGB: number; platform: string; node: string; pulumi: string };
  date: string;
  figures: readonly Figure[];
}

interface Measured extends Pick<Figure, "what" | "unit" | "against"> {
  ours: readonly number[];
  theirs: readonly number[];
}

export function figure({ ours, theirs, ...rest }: Measured): Figure {
  const [mine, other] = [spread(ours), spread(theirs)];
  return { ...rest, ours: mine, theirs: other, ratio: mine.median / other.median };
}

function spread(values: readonly number[]): Spread {
  if (values.length === 0) throw new Error("nothing was measured");
  return { min: Math.min(...values), median: median(values), runs: values.length };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [below = NaN, above = NaN] = sorted.slice(middle - 1 + (sorted.length % 2), middle + 1);
  return sorted.length % 2 === 1 ? below : (below + above) / 2;
}

/** Functions that each measure one run of one peer. A peer that this machine does not have is undefined. */
type Contestants = Readonly<Record<string, (() => Promise<unknown>) | undefined>>;
type Samples<C extends Contestants> = {
  [Name in keyof C]: Awaited<ReturnType<NonNullable<C[Name]>>>[];
};

/**
 * Runs each contestant in turn, `runs` times, so that whatever else the machine does affects all of them alike. A first
 * round fills the caches and is not counted, unless `warm` is false.
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

/** How many seconds `work` takes. */
export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

export function amount(value: number, unit: Unit): string {
  return `${round(value)} ${unit}`;
}

/** Three digits: a measurement is no more exact than that. */
export function round(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** The figures that README.md shows: those by which a user chooses, each as what is measured and the peer. */
const chosen: readonly (readonly [what: RegExp, against: RegExp])[] = [
  [/^1000 instances at once: until all/, /^the slowest/],
  [/^1000 instances within .*: until all/, /^the slowest/],
  [/^up of \d+ instances(: requests)?$/, /^a dynamic provider/],
  [/^refresh of 1000 instances: list requests/, /pages/],
  [/^preview with a refresh of \d+ instances$/, /^terraform/],
  [/^the single executable: pulumi up of one instance/, /^a Go provider/],
  [/^the single executable: size to download/, /^a Go provider/],
];

/** The rows of the table in docs/performance.md; in README.md, of the chosen figures. */
export function tableRows(which: "all" | "chosen"): string[][] {
  const text = readFileSync(join(root, "bench", "results.json"), "utf8");
  const { figures } = JSON.parse(text) as Results;
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
