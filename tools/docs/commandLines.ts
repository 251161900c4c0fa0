/** Parses the part of the shell's grammar that our pages use. */

export interface Command {
  /** From 1. */
  line: number;
  /** The program and its arguments, without `NAME=value` before them. */
  words: readonly string[];
  /** The command as written, without a comment. */
  text: string;
}

export function commandsIn(block: string): Command[] {
  const lines = block.split("\n");
  const commands: Command[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = index + 1;
    let text = withoutComment(lines[index] ?? "");
    while (text.endsWith("\\")) text = text.slice(0, -1) + withoutComment(lines[++index] ?? "");
    for (const part of text.split(/\s(?:&&|\|\||\||;)\s/)) {
      const words = wordsOf(part);
      const program = words.findIndex((word) => !/^[A-Za-z_]+=/.test(word));
      if (program >= 0) commands.push({ line, words: words.slice(program), text: part.trim() });
    }
  }
  return commands;
}

/** A comment begins with a `#` at the start of a word, outside of quotes. */
function withoutComment(line: string): string {
  const [code = ""] = /^(?:'[^']*'|"[^"]*"|[^\s'"]+|\s+(?!#)|['"])*/.exec(line) ?? [];
  return line.startsWith("#") ? "" : code.trimEnd();
}

function wordsOf(text: string): string[] {
  const words = text.match(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g) ?? [];
  return words.map((word) => word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, "$1$2$3"));
}
