/** Figures that tests count and report (`tests/support/figures.ts`): how many cases, how many went wrong. */
import { existsSync, readFileSync } from "node:fs";

/** Names the file that tests write them to, one JSON document a line. */
export const figuresVariable = "COMPUTE_FIGURES";

export interface Figures {
  /** What was counted. */
  of: string;
  figures: Readonly<Record<string, number>>;
}

export function readFigures(file: string): Figures[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Figures);
}

/** One line each, and a last one with the sums of those that count cases. */
export function describeFigures(all: readonly Figures[]): string[] {
  const cases = all.filter(({ figures }) => "cases" in figures);
  const sums: Record<string, number> = {};
  for (const { figures } of cases) {
    for (const [what, count] of Object.entries(figures)) sums[what] = (sums[what] ?? 0) + count;
  }
  const lines = all.map(({ of, figures }) => `${of}: ${words(figures)}`);
  return cases.length > 1 ? [...lines, `faults in all: ${words(sums)}`] : lines;
}

export function words(figures: Figures["figures"]): string {
  return Object.entries(figures)
    .map(([what, count]) => `${what} ${count}`)
    .join(", ");
}
