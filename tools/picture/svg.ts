/** A terminal window as an SVG: frames of text on a grid, which end on the last one. */
import { parseScreen, textOf, type Run, type Style } from "./ansi";
import { theme } from "./palette";

export interface Frame {
  /** As `tmux capture-pane -e` prints it. */
  screen: string;
  /** Seconds from the first frame. */
  at: number;
}

export interface Picture {
  columns: number;
  /** In the title bar. */
  heading: string;
  /** For those who do not see the picture. */
  title: string;
  description: string;
  /** The last one is the picture; those before it lead up to it. */
  frames: readonly Frame[];
}

const fontSize = 14;
const cell = { width: 8.4, height: 20 };
const padding = 20;
const barHeight = 38;
const fonts =
  "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";

export function drawPicture({ columns, heading, title, description, frames }: Picture): string {
  const screens = frames.map(({ screen }) => parseScreen(screen));
  const rows = Math.max(...screens.map((lines) => lines.length));
  const width = round(columns * cell.width + 2 * padding);
  const height = barHeight + rows * cell.height + 1.5 * padding;
  const inside = `x="0.5" y="0.5" width="${round(width - 1)}" height="${round(height - 1)}" rx="9.5"`;
  const middle = barHeight / 2;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${escape(title)}</title>`,
    `<desc id="desc">${escape(description)}</desc>`,
    ...animation(frames),
    `<rect ${inside} fill="${theme.background}"/>`,
    `<path d="M0.5 ${barHeight}V10a9.5 9.5 0 0 1 9.5-9.5H${round(width - 10)}a9.5 9.5 0 0 1 9.5 9.5V${barHeight}z" fill="${theme.bar}"/>`,
    `<path d="M0 ${barHeight + 0.5}H${width}" stroke="${theme.border}"/>`,
    ...theme.dots.map((color, index) => dot(padding + 6 + index * 20, middle, color)),
    `<g font-family="${fonts}" font-size="${fontSize}" fill="${theme.text}">`,
    `<text x="${round(width / 2)}" y="${middle + 4.5}" text-anchor="middle" font-size="13" fill="${theme.title}">${escape(heading)}</text>`,
    ...screens.map((lines, index) => drawFrame(lines, index, index === screens.length - 1)),
    `</g>`,
    `<rect ${inside} fill="none" stroke="${theme.border}"/>`,
    `</svg>`,
  ];
  return `${svg.join("\n")}\n`;
}

/**
 * Plays once. Only what may move for the reader is hidden and shown by CSS: without it, only the
 * last frame has ever been visible.
 */
function animation(frames: readonly Frame[]): string[] {
  const end = frames.at(-1)?.at ?? 0;
  if (end === 0) return [];
  const percent = (at: number) => `${round((at / end) * 100)}%`;
  const rules = frames.map(({ at }, index) => {
    const next = frames[index + 1];
    const steps = [
      ...(index === 0 ? [] : ["0%{visibility:hidden}"]),
      `${percent(at)}{visibility:visible}`,
      ...(next ? [`${percent(next.at)}{visibility:hidden}`] : []),
      ...(next && next.at < end ? ["100%{visibility:hidden}"] : []),
    ];
    return `@keyframes f${index}{${steps.join("")}}#f${index}{animation:f${index} ${round(end)}s step-end}`;
  });
  return ["<style>@media (prefers-reduced-motion:no-preference){", ...rules, "}</style>"];
}

function drawFrame(lines: readonly Run[][], index: number, isLast: boolean): string {
  const texts = lines.flatMap((runs, row) => drawLine(runs, row));
  return [`<g id="f${index}"${isLast ? "" : ' visibility="hidden"'}>`, ...texts, "</g>"].join("\n");
}

/**
 * Each piece of text has its place and its width, so that columns stay in line in any font. Wide
 * spaces are not drawn: they would be collapsed.
 */
function drawLine(runs: readonly Run[], row: number): string[] {
  if (textOf(runs).trim() === "") return [];
  const top = barHeight + padding / 2 + row * cell.height;
  const pieces: string[] = [];
  const spans: string[] = [];
  for (const { text, column, style } of runs) {
    const { color, background } = colors(style);
    if (background !== undefined) {
      pieces.push(
        `<rect x="${left(column)}" y="${round(top)}" width="${wide(text)}" height="${cell.height}" fill="${background}"/>`,
      );
    }
    for (const match of text.matchAll(/\S+( \S+)*/gu)) {
      const at = column + Array.from(text.slice(0, match.index)).length;
      const size = `x="${left(at)}" textLength="${wide(match[0])}" lengthAdjust="spacingAndGlyphs"`;
      spans.push(`<tspan ${size}${attributes(style, color)}>${escape(match[0])}</tspan>`);
    }
  }
  return [...pieces, `<text y="${round(top + 15)}">${spans.join("")}</text>`];
}

function colors({ color, background, inverse }: Style): Pick<Style, "color" | "background"> {
  if (!inverse) return { color, background };
  return { color: background ?? theme.background, background: color ?? theme.text };
}

/** Attributes and not CSS, which some renderers leave out. */
function attributes(style: Style, color: string | undefined): string {
  return [
    color === undefined ? "" : ` fill="${color}"`,
    style.bold ? ' font-weight="bold"' : "",
    style.dim ? ' opacity="0.65"' : "",
    style.italic ? ' font-style="italic"' : "",
    style.underline ? ' text-decoration="underline"' : "",
  ].join("");
}

function dot(x: number, y: number, color: string): string {
  return `<circle cx="${x}" cy="${y}" r="5.5" fill="${color}"/>`;
}

function left(column: number): number {
  return round(padding + column * cell.width);
}

/** Of text without characters that take two columns, which Pulumi does not print on Linux. */
function wide(text: string): number {
  return round(Array.from(text).length * cell.width);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
