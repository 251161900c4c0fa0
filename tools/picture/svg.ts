/** Draws a terminal window as an SVG, which plays its frames once and stays on the last frame. */

/** A screen of the terminal. */
export interface Frame {
  /** The output of `tmux capture-pane -e`. */
  screen: string;
  /** Seconds from the first frame. */
  at: number;
}

export interface Picture {
  /** Of the terminal, in characters. */
  columns: number;
  heading: string;
  /** Title and description are for readers who can't see the picture. */
  title: string;
  description: string;
  frames: readonly Frame[];
}

/** Each text colour has a contrast of at least 4.5 : 1 to the background. */
const theme = {
  background: "#0d1117",
  bar: "#161b22",
  border: "#3d444d",
  text: "#d1d7e0",
  title: "#9198a1",
  dots: ["#ff7b72", "#d29922", "#3fb950"],
};

/** From black to white, then the bright ones. Black is a grey, so that it can be seen. */
const palette = [
  ...["#7d8590", "#ff7b72", "#3fb950", "#d9a93b", "#58a6ff", "#bc8cff", "#39c5cf", "#d1d7e0"],
  ...["#8b949e", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc"],
];

const cell = { width: 8.4, height: 20 };
const padding = 20;
const barHeight = 38;
const fonts =
  "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";

export function drawPicture({ columns, heading, title, description, frames }: Picture): string {
  const screens = frames.map(({ screen }) => screen.split("\n"));
  const rows = Math.max(...screens.map((lines) => lines.length));
  const width = round(columns * cell.width + 2 * padding);
  const height = barHeight + rows * cell.height + 1.5 * padding;
  const inside = `x="0.5" y="0.5" width="${round(width - 1)}" height="${round(height - 1)}" rx="9.5"`;
  const middle = barHeight / 2;
  const dot = (color: string, index: number) =>
    `<circle cx="${padding + 6 + index * 20}" cy="${middle}" r="5.5" fill="${color}"/>`;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${escape(title)}</title>`,
    `<desc id="desc">${escape(description)}</desc>`,
    ...animation(frames),
    `<rect ${inside} fill="${theme.background}"/>`,
    `<path d="M0.5 ${barHeight}V10a9.5 9.5 0 0 1 9.5-9.5H${round(width - 10)}a9.5 9.5 0 0 1 9.5 9.5V${barHeight}z" fill="${theme.bar}"/>`,
    `<path d="M0 ${barHeight + 0.5}H${width}" stroke="${theme.border}"/>`,
    ...theme.dots.map(dot),
    `<g font-family="${fonts}" font-size="14" fill="${theme.text}">`,
    `<text x="${round(width / 2)}" y="${middle + 4.5}" text-anchor="middle" font-size="13" fill="${theme.title}">${escape(heading)}</text>`,
    ...screens.map((lines, index) => drawFrame(lines, index, index === screens.length - 1)),
    `</g>`,
    `<rect ${inside} fill="none" stroke="${theme.border}"/>`,
    `</svg>`,
  ];
  return `${svg.join("\n")}\n`;
}

/** Without CSS or motion, only the last frame is visible. */
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

/** `ESC [ PARAMETERS m`, which sets the style of the text that follows. */
// eslint-disable-next-line no-control-regex -- the sequence begins with a control character
const styleSequence = /\x1b\[([\d;:]*)m/;

export function plainText(screen: string): string {
  return screen.replace(new RegExp(styleSequence, "g"), "");
}

/**
 * Each piece of text has its position and width, so that columns stay aligned in any font. Runs of spaces are left
 * out, because SVG would collapse them. A style goes on after the end of its line.
 */
function drawFrame(lines: readonly string[], index: number, isLast: boolean): string {
  let style = "";
  const texts = lines.flatMap((line, row) => {
    const spans: string[] = [];
    let column = 0;
    for (const [n, piece] of line.split(styleSequence).entries()) {
      // Every second piece is a style's parameters.
      if (n % 2 === 1) {
        style = applyStyle(style, piece);
        continue;
      }
      for (const { 0: text, index: at } of piece.matchAll(/\S+( \S+)*/gu)) {
        const x = padding + (column + columnsOf(piece.slice(0, at))) * cell.width;
        const size = `x="${round(x)}" textLength="${round(columnsOf(text) * cell.width)}"`;
        spans.push(
          `<tspan ${size} lengthAdjust="spacingAndGlyphs"${style}>${escape(text)}</tspan>`,
        );
      }
      column += columnsOf(piece);
    }
    const y = round(barHeight + padding / 2 + row * cell.height + 15);
    return spans.length === 0 ? [] : [`<text y="${y}">${spans.join("")}</text>`];
  });
  return [`<g id="f${index}"${isLast ? "" : ' visibility="hidden"'}>`, ...texts, "</g>"].join("\n");
}

/**
 * Returns the SVG attributes after a style sequence. They are not CSS, which some renderers ignore. @throws for a
 * style that Pulumi does not print
 */
function applyStyle(before: string, parameters: string): string {
  const without = (name: string) => after.replace(new RegExp(` ${name}="[^"]*"`), "");
  const colored = (index: number) => ` fill="${palette[index]}"${without("fill")}`;
  let after = before;
  const codes = parameters.split(/[;:]/).map(Number);
  for (let code = codes.shift(); code !== undefined; code = codes.shift()) {
    const [kind, index = 16] = code === 38 ? codes.splice(0, 2) : [];
    if (code === 0) after = "";
    else if (code === 1) after = `${without("font-weight")} font-weight="bold"`;
    else if (code === 22) after = without("font-weight");
    else if (code === 4) after = `${without("text-decoration")} text-decoration="underline"`;
    else if (code === 24) after = without("text-decoration");
    else if (code === 39) after = without("fill");
    else if (code === 49)
      continue; // the default background
    else if (kind === 5 && index < 16) after = colored(index);
    else if (code >= 30 && code <= 37) after = colored(code - 30);
    else if (code >= 90 && code <= 97) after = colored(code - 90 + 8);
    else throw new Error(`the picture can't show the style ${parameters}`);
  }
  return after;
}

/** Pulumi prints no characters that are two columns wide on Linux. */
function columnsOf(text: string): number {
  return Array.from(text).length;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Escapes text for XML. */
export function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
