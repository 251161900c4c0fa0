/** The charts of the README: what each shows, out of the figures. */
import { amount, partNames, type Figure, type Results } from "../figure";
import { drawChart, type Bar, type Panel } from "./svg";

const us = "this provider";

/** By path from the root. A chart whose figures were not measured is left out. */
export function drawCharts(results: Results): Record<string, string> {
  const figures = partNames.flatMap((name) => results.parts[name]?.figures ?? []);
  const panels = (...whats: RegExp[]) =>
    whats.flatMap((what) => panelsOf(figures.filter((it) => what.test(it.what))));
  const charts = {
    "docs/bench-peers.svg": {
      title: "Many instances: time and requests, beside peers",
      panels: panels(/^up of \d+ instances/, /^preview with a refresh of/),
    },
    "docs/bench-startup.svg": {
      title: "Start-up: time and memory, beside peers",
      panels: panels(/^start until the first answer/, /^memory after/, /^pulumi up of one/),
    },
  };
  return Object.fromEntries(
    Object.entries(charts)
      .filter(([, chart]) => chart.panels.length > 0)
      .map(([path, { title, panels: shown }]) => [
        path,
        drawChart({ title, description: describe(shown), panels: shown }),
      ]),
  );
}

/** One panel for each thing measured: ours first, then what it is held against. */
function panelsOf(figures: readonly Figure[]): Panel[] {
  const byWhat = Map.groupBy(figures, ({ what }) => what);
  return [...byWhat].map(([heading, same]) => {
    const bar = (label: string, { median }: Figure["ours"], unit: Figure["unit"]): Bar => ({
      ...{ label, value: median, amount: amount(median, unit), ours: label === us },
    });
    const [first] = same;
    const ours = first ? [bar(us, first.ours, first.unit)] : [];
    const theirs = same.map(({ against, theirs: spread, unit }) => bar(against, spread, unit));
    return { heading, bars: [...ours, ...theirs] };
  });
}

function describe(panels: readonly Panel[]): string {
  return panels
    .map(({ heading, bars }) => {
      const amounts = bars.map(({ label, amount: text }) => `${label} ${text}`);
      return `${heading}: ${amounts.join(", ")}.`;
    })
    .join(" ");
}
