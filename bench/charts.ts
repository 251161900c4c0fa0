/** Draws the bar charts of docs/performance.md, as SVG for light and dark pages. */
import { amount, type Figure, type Unit } from "./figure";

const ourLabel = "this provider";

/** By path: the title of a chart, and the patterns of its figures. */
const charts: Readonly<Record<string, { title: string; patterns: readonly RegExp[] }>> = {
  "docs/bench-peers.svg": {
    title: "Many instances: time and requests, beside peers",
    patterns: [/^up of \d+ instances/, /^preview with a refresh of/],
  },
  "docs/bench-startup.svg": {
    title: "Start-up: time and memory, beside peers",
    patterns: [
      /^start until the first answer/,
      /^memory after/,
      /^peak memory/,
      /^pulumi up of one/,
    ],
  },
};

interface Panel {
  heading: string;
  /** This provider, then the peers. */
  bars: readonly { label: string; value: number; text: string }[];
}

/** Returns the charts by path. One without figures is left out. */
export function drawCharts(figures: readonly Figure[]): Record<string, string> {
  const drawn: Record<string, string> = {};
  for (const [path, { title, patterns }] of Object.entries(charts)) {
    const panels = patterns.flatMap((pattern) =>
      panelsOf(figures.filter((figure) => pattern.test(figure.what))),
    );
    if (panels.length > 0) drawn[path] = drawChart(title, panels);
  }
  return drawn;
}

function panelsOf(figures: readonly Figure[]): Panel[] {
  return [...Map.groupBy(figures, ({ what }) => what)].map(([heading, all]) => {
    const bar = (label: string, value: number, unit: Unit) => ({
      label,
      value,
      text: amount(value, unit),
    });
    const ours = all.slice(0, 1).map((figure) => bar(ourLabel, figure.ours.median, figure.unit));
    const theirs = all.map((figure) => bar(figure.against, figure.theirs.median, figure.unit));
    return { heading, bars: [...ours, ...theirs] };
  });
}

const width = 760;
const padding = 20;
const labelWidth = 300;
const amountWidth = 110;
const rowHeight = 26;
const headingHeight = 34;
const longestBar = width - 2 * padding - labelWidth - amountWidth;
const fonts = "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif";

const style = `
  .page { fill: #ffffff; stroke: #d1d9e0 }
  .heading { fill: #1f2328; font-weight: 600 }
  .label { fill: #59636e }
  .ours { fill: #0969da }
  .theirs { fill: #afb8c1 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #3d444d }
    .heading { fill: #f0f6fc }
    .label { fill: #9198a1 }
    .ours { fill: #4493f8 }
    .theirs { fill: #656c76 }
  }
`;

function drawChart(title: string, panels: readonly Panel[]): string {
  const shapes: string[] = [];
  let y = padding;
  for (const { heading, bars } of panels) {
    shapes.push(drawText("heading", padding, y + 16, heading));
    y += headingHeight;
    const largest = Math.max(...bars.map(({ value }) => value));
    for (const { label, value, text } of bars) {
      const x = padding + labelWidth;
      const length = Math.max(2, Math.round((value / largest) * longestBar));
      const size = `width="${length}" height="${rowHeight - 8}" rx="3"`;
      const isOurs = label === ourLabel;
      shapes.push(
        drawText("label", padding, y + 15, label),
        `<rect class="${isOurs ? "ours" : "theirs"}" x="${x}" y="${y + 2}" ${size}/>`,
        drawText(isOurs ? "heading" : "label", x + length + 8, y + 15, text),
      );
      y += rowHeight;
    }
    y += padding;
  }
  const description = panels.map(
    ({ heading, bars }) =>
      `${heading}: ${bars.map(({ label, text }) => `${label} ${text}`).join(", ")}.`,
  );
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${escape(title)}</title>`,
    // For readers who can't see the chart.
    `<desc id="desc">${escape(description.join(" "))}</desc>`,
    `<style>${style}</style>`,
    `<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${y - 1}" rx="9.5"/>`,
    `<g font-family="${fonts}" font-size="13">`,
    ...shapes,
    `</g>`,
    `</svg>`,
  ];
  return `${svg.join("\n")}\n`;
}

function drawText(className: string, x: number, y: number, content: string): string {
  return `<text class="${className}" x="${x}" y="${y}">${escape(content)}</text>`;
}

/** Escapes text for XML. */
function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
