/** The code blocks of the documentation pages, without duplicates, and the interface of their checks. */
import { blocksOf, type Block } from "../../../../tools/docs/markdown";
import { descriptions, pages } from "../../../../tools/docs/pages";

/** The content of one or more equal blocks. */
export interface Sample {
  /** The places of the blocks, such as "README.md:30, docs/install.md:12". */
  places: string;
  /** The first of the blocks. */
  block: Block;
  language: string;
  text: string;
}

/** Reports a problem of a sample. */
export type Report = (sample: Sample, problem: string) => void;

/** A check of all samples in one language. */
export interface Check {
  /** Returns why the check can't run on this machine. Undefined if it can. */
  skipReason?: () => string | undefined;
  /** What the check leaves out. It is shown as a skipped test. */
  leftOut?: string;
  /** Checks all samples of the language at once, and reports every problem. */
  run(samples: readonly Sample[], report: Report): Promise<void> | void;
}

/** All samples of the documentation. */
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

/** Returns where a line of the sample is in the documentation, such as "README.md:30". */
export function lineOf({ block }: Sample, line: number | string): string {
  return `${block.page}:${block.line + Number(line)}`;
}

/**
 * Reports the output lines of a compiler to the samples whose files they name. If no line names a file, the whole
 * output is reported to all samples. The groups of `place` match the index of the sample and the number of the line.
 */
export function reportLines(
  samples: readonly Sample[],
  output: readonly string[],
  place: RegExp,
  report: Report,
): void {
  const found = output.map((line) => ({ line, match: place.exec(line) }));
  for (const { line, match } of found) {
    const sample = samples[Number(match?.[1])];
    if (match && sample) report(sample, `${lineOf(sample, match[2] ?? 0)}: ${line}`);
  }
  if (found.every(({ match }) => match === null)) {
    for (const sample of samples) report(sample, output.join("\n"));
  }
}
