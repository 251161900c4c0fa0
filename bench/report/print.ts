/** The figures as a table for the terminal. */
import { amount, round, type Figure, type PartResult } from "../figure";

export function printed(name: string, { figures, missing }: PartResult): string {
  const rows = figures.map((figure) => [
    figure.what,
    amount(figure.ours.median, figure.unit),
    amount(figure.ours.min, figure.unit),
    figure.against,
    amount(figure.theirs.median, figure.unit),
    `${ratio(figure)}${aim(figure)}`,
  ]);
  const head = [name, "ours", "best", "against", "theirs", "ratio"];
  const widths = head.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd();
  return [
    line(head),
    line(widths.map((width) => "─".repeat(width))),
    ...rows.map(line),
    ...missing.map(({ what, why }) => `not measured: ${what} (${why})`),
    "",
  ].join("\n");
}

function ratio({ ratio: value }: Figure): string {
  return `${round(value)} ×`;
}

function aim({ aim: most, ratio: value }: Figure): string {
  if (most === undefined) return "";
  return value <= most ? ` (aim ${round(most)}: met)` : ` (aim ${round(most)}: MISSED)`;
}
