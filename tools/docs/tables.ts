/** Puts generated tables, lists and examples into Markdown pages. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";
import { ToolError } from "../support/main";
import { root } from "../support/paths";

/** The content for each `<!-- table: NAME -->` (or `list`) of a page. */
export type Contents = Readonly<Record<string, () => string>>;

/**
 * Returns the page with new content between each `<!-- table: NAME -->` (or `list`) and `<!-- end -->`.
 * @throws {ToolError} if there is no such content
 */
export async function filledPage(page: string, contents: Contents): Promise<string> {
  const filled = readFileSync(join(root, page), "utf8").replace(
    /(<!-- (?:table|list): (\w+) -->\n)[^]*?(\n<!-- end -->)/g,
    (_, start: string, name: string, end: string) => {
      const make = contents[name];
      if (!make) throw new ToolError(`${page} asks for a table "${name}", which does not exist`);
      return `${start}\n${make()}\n${end}`;
    },
  );
  return formatted(filled);
}

/** Formats a page as `npm run check` wants it. */
export function formatted(page: string): Promise<string> {
  return format(page, { parser: "markdown", printWidth: 100 });
}

/** Makes a table, whose cells have to be short: Prettier pads each line to the width of the widest. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Makes a list of names with their meanings, in lines that fit a page. */
export function definitions(items: readonly { name: string; text: string }[]): string {
  return items.map(({ name, text }) => wrapped(`- ${name}: ${text}`, "  ")).join("\n");
}

/** Breaks a paragraph into lines, except in its code spans. All lines but the first begin with `indent`. */
function wrapped(paragraph: string, indent: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of paragraph.match(/(?:`[^`]*`|\S)+/g) ?? []) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (longer.length <= 120) line = longer;
    else {
      lines.push(line);
      line = indent + word;
    }
  }
  return [...lines, line].join("\n");
}
