/** What is filled into Markdown pages, made from the definitions that the provider runs on and from what was measured. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";
import { tableRows } from "../../bench/figure";
import { settingDescriptions, settingNames } from "../../provider/config/settings";
import { inputNames, isRequired, outputs, traitsOf } from "../../provider/instance/definition";
import { ToolError } from "../support/main";
import { root } from "../support/paths";

export type Tables = Readonly<Record<string, () => string>>;

const measuredHead = ["Measured", "Here", "Beside", "Ratio"];

export const readmeTables = {
  settings: () =>
    table(
      ["Setting", "Meaning"],
      settingNames.map((name) => [`\`compute:${name}\``, settingDescriptions[name]]),
    ),
  measured: () => table(measuredHead, tableRows("chosen")),
} satisfies Tables;

/** The pages by path. */
export const docsPages: Readonly<Record<string, Tables>> = {
  "docs/instance.md": {
    inputs: () =>
      table(
        ["Input", "Meaning"],
        inputNames.map((name) => [
          `\`${name}\`${isRequired(name) ? " (required)" : ""}`,
          traitsOf(name).description + (traitsOf(name).secret ? " Secret." : ""),
        ]),
      ),
    outputs: () =>
      table(
        ["Output", "Meaning"],
        Object.entries(outputs).map(([name, { description }]) => [`\`${name}\``, description]),
      ),
  },
  "docs/performance.md": { measured: () => table(measuredHead, tableRows("all")) },
};

/** The page, formatted, with each `<!-- table: NAME -->` … `<!-- end -->` (a list, a chooser) filled in. */
export async function pageWithTables(page: string, tables: Tables): Promise<string> {
  const filled = readFileSync(join(root, page), "utf8").replace(
    /(<!-- (?:table|list|chooser): (\w+) -->\n)[^]*?(\n<!-- end -->)/g,
    (_, start: string, name: string, end: string) => {
      const make = tables[name];
      if (!make) throw new ToolError(`${page} asks for "${name}", which there is not`);
      return `${start}\n${make()}\n${end}`;
    },
  );
  return format(filled, { parser: "markdown", printWidth: 100 });
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
