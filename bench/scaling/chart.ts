/** The chart of docs/scaling.md. */
import { drawChart, type Bar } from "../report/svg";
import type { Row } from "./measure";

interface Measure {
  name: string;
  value: (row: Row) => number;
  text: (value: number) => string;
}

/** Of the latecomers, what nine of ten waited at the most. */
export function wait90({ outcome: { waited } }: Row): number {
  return waited[Math.ceil(waited.length * 0.9) - 1] ?? 0;
}

const measures: readonly Measure[] = [
  {
    name: "total time over the ideal",
    value: ({ outcome }) => outcome.took / outcome.ideal,
    text: (value) => `${value.toFixed(2)} ×`,
  },
  {
    name: "what nine of ten latecomers waited at the most",
    value: wait90,
    text: (value) => (value < 10 ? `${value.toFixed(1)} s` : `${Math.round(value)} s`),
  },
  {
    name: "429s",
    value: ({ outcome }) => outcome.refused,
    text: (value) => value.toLocaleString("en"),
  },
];

/** One panel for each number of runners and each measure, one bar for each choice. */
export function drawScaling(rows: readonly Row[], title: string): string {
  const shown = rows.filter(({ window, runners }) => window === "sliding" && runners > 1);
  const panels = [...Map.groupBy(shown, ({ runners }) => runners)].flatMap(([runners, choices]) =>
    measures.map(({ name, value, text }) => ({
      heading: `${runners} runners: ${name}`,
      bars: choices.map((row): Bar => {
        const ours = row.choice.includes("ours");
        return { label: row.choice, value: value(row), amount: text(value(row)), ours };
      }),
    })),
  );
  const description = "The table below says the same in figures.";
  return drawChart({ title, description, panels });
}
