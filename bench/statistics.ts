/** What repeated runs come to, and runs that take turns. */

/** Of repeated runs: the best and the middle one. */
export interface Spread {
  min: number;
  median: number;
  runs: number;
}

export function spread(values: readonly number[]): Spread {
  if (values.length === 0) throw new Error("nothing was measured");
  return { min: Math.min(...values), median: median(values), runs: values.length };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [below = NaN, above = NaN] = sorted.slice(middle - 1 + (sorted.length % 2), middle + 1);
  return sorted.length % 2 === 1 ? below : (below + above) / 2;
}

/** One that is not to be had is undefined; it has no samples. */
type Contestants = Readonly<Record<string, (() => Promise<unknown>) | undefined>>;
type Samples<C extends Contestants> = {
  [Name in keyof C]: Awaited<ReturnType<NonNullable<C[Name]>>>[];
};

/**
 * Runs each in turn, again and again, so that what the machine does meanwhile meets all of them
 * alike. A first round fills the caches and is not counted, unless `warm` is false.
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

/** Seconds that `work` takes. */
export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
