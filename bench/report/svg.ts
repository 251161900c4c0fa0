/** Bars beside each other, as an SVG that reads well on a light page and on a dark one. */

export interface Bar {
  label: string;
  value: number;
  /** What stands at its end: "96 ms". */
  amount: string;
  ours: boolean;
}

export interface Panel {
  heading: string;
  bars: readonly Bar[];
}

export interface Chart {
  /** For those who do not see it. */
  title: string;
  description: string;
  panels: readonly Panel[];
}

const width = 760;
const padding = 20;
const labelWidth = 300;
const amountWidth = 110;
const rowHeight = 26;
const headingHeight = 34;
const longest = width - 2 * padding - labelWidth - amountWidth;
const fonts = "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif";

/** Each colour for a light page and for a dark one. */
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

export function drawChart({ title, description, panels }: Chart): string {
  const pieces: string[] = [];
  let y = padding;
  for (const { heading, bars } of panels) {
    pieces.push(text("heading", padding, y + 16, heading));
    y += headingHeight;
    const most = Math.max(...bars.map(({ value }) => value));
    for (const bar of bars) {
      pieces.push(...drawBar(bar, y, most));
      y += rowHeight;
    }
    y += padding;
  }
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${escape(title)}</title>`,
    `<desc id="desc">${escape(description)}</desc>`,
    `<style>${style}</style>`,
    `<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${y - 1}" rx="9.5"/>`,
    `<g font-family="${fonts}" font-size="13">`,
    ...pieces,
    `</g>`,
    `</svg>`,
  ];
  return `${svg.join("\n")}\n`;
}

function drawBar({ label, value, amount, ours }: Bar, y: number, most: number): string[] {
  const x = padding + labelWidth;
  const length = Math.max(2, Math.round((value / most) * longest));
  return [
    text("label", padding, y + 15, label),
    `<rect class="${ours ? "ours" : "theirs"}" x="${x}" y="${y + 2}" width="${length}" height="${rowHeight - 8}" rx="3"/>`,
    text(ours ? "heading" : "label", x + length + 8, y + 15, amount),
  ];
}

function text(name: string, x: number, y: number, content: string): string {
  return `<text class="${name}" x="${x}" y="${y}">${escape(content)}</text>`;
}

function escape(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
