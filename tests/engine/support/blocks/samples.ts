/** The blocks of the pages, each text once, and what a check of them is. */
import { blocksOf, type Block } from "../../../../tools/docs/markdown";
import { descriptions, pages } from "../../../../tools/docs/pages";

/** What stands in one or more blocks. */
export interface Sample {
  /** "README.md:30", or several of these. */
  places: string;
  /** The block where it stands first. */
  block: Block;
  language: string;
  text: string;
}

/** What is wrong with a sample. */
export type Report = (sample: Sample, problem: string) => void;

export interface Check {
  /** Why it can't be made on this machine; undefined where it can. */
  hindrance?: () => string | undefined;
  /** What it leaves out, shown as a skipped test. */
  leftOut?: string;
  /** Looks at all samples of the language at once; a good one gets no report. */
  run(samples: readonly Sample[], report: Report): Promise<void> | void;
}

export const samples: readonly Sample[] = Object.values(
  Object.groupBy(
    [...pages, ...descriptions].flatMap(blocksOf),
    ({ language, text }) => `${language}\n${text}`,
  ),
).flatMap((blocks = []) => {
  const [block] = blocks;
  const places = blocks.map(({ page, line }) => `${page}:${line}`).join(", ");
  return block ? [{ places, block, language: block.language, text: block.text }] : [];
});

/** The line of the page that a line of the sample is. */
export function lineOf({ block }: Sample, line: number | string): string {
  return `${block.page}:${block.line + Number(line)}`;
}

/** Tells each sample what a compiler said of its file; what is said of no file is said of all. */
export function reportLines(
  samples: readonly Sample[],
  said: readonly string[],
  place: RegExp,
  report: Report,
): void {
  const found = said.map((line) => ({ line, match: place.exec(line) }));
  for (const { line, match } of found) {
    const sample = samples[Number(match?.[1])];
    if (match && sample) report(sample, `${lineOf(sample, match[2] ?? 0)}: ${line}`);
  }
  if (found.every(({ match }) => match === null)) {
    for (const sample of samples) report(sample, said.join("\n"));
  }
}
