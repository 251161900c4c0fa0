/** What a terminal shows, as `tmux capture-pane -e` prints it, taken apart into runs of one style. */
import { indexed, named } from "./palette";

export interface Style {
  /** CSS colours; undefined is the terminal's own. */
  color?: string | undefined;
  background?: string | undefined;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  inverse?: boolean;
}

export interface Run {
  text: string;
  column: number;
  style: Style;
}

/** The runs of each line. A style lasts beyond the end of its line. */
export function parseScreen(screen: string): Run[][] {
  let style: Style = {};
  return screen.split("\n").map((line) => {
    const runs: Run[] = [];
    let column = 0;
    // Every second piece is what stands between `ESC [` and `m`.
    // eslint-disable-next-line no-control-regex -- escape sequences are what it looks for
    for (const [index, piece] of line.split(/\x1b\[([\d;:]*)m/).entries()) {
      if (index % 2 === 1) {
        style = restyle(style, piece);
      } else if (piece !== "") {
        runs.push({ text: piece, column, style });
        column += Array.from(piece).length;
      }
    }
    return runs;
  });
}

export function textOf(runs: readonly Run[]): string {
  return runs.map((run) => run.text).join("");
}

/** SGR, "select graphic rendition": only the codes that tmux writes. */
function restyle(before: Style, parameters: string): Style {
  let style = { ...before };
  const codes = parameters.split(/[;:]/).map(Number);
  for (let code = codes.shift(); code !== undefined; code = codes.shift()) {
    if (code === 0) style = {};
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.underline = true;
    else if (code === 7) style.inverse = true;
    else if (code === 22) style.bold = style.dim = false;
    else if (code === 23) style.italic = false;
    else if (code === 24) style.underline = false;
    else if (code === 27) style.inverse = false;
    else if (code === 38) style.color = extendedColor(codes);
    else if (code === 39) style.color = undefined;
    else if (code === 48) style.background = extendedColor(codes);
    else if (code === 49) style.background = undefined;
    else if (code >= 30 && code <= 37) style.color = named(code - 30);
    else if (code >= 40 && code <= 47) style.background = named(code - 40);
    else if (code >= 90 && code <= 97) style.color = named(code - 90 + 8);
    else if (code >= 100 && code <= 107) style.background = named(code - 100 + 8);
  }
  return style;
}

/** `5;n`, one of the 256, or `2;r;g;b`; takes what it reads. */
function extendedColor(codes: number[]): string | undefined {
  const kind = codes.shift();
  if (kind === 5) return indexed(codes.shift() ?? 0);
  if (kind === 2) return `rgb(${codes.splice(0, 3).join(",")})`;
  return undefined;
}
