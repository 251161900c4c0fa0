/** The tables of README.md, from the definitions that the provider runs on. */
import { settingDescriptions, settingNames } from "../../provider/config/settings";
import {
  inputNames,
  isRequired,
  outputDescriptions,
  traitsOf,
} from "../../provider/resources/instance/definition";
import { ToolError } from "../support/main";

const tables: Record<string, () => string> = {
  settings: () =>
    table(
      ["Setting", "Meaning"],
      settingNames.map((name) => [`\`compute:${name}\``, settingDescriptions[name]]),
    ),
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
      Object.entries(outputDescriptions).map(([name, meaning]) => [`\`${name}\``, meaning]),
    ),
};

/** The README with each `<!-- table: NAME -->` … `<!-- end -->` filled in. */
export function readmeWithTables(readme: string): string {
  return readme.replace(
    /(<!-- table: (\w+) -->\n)[^]*?(\n<!-- end -->)/g,
    (_, start: string, name: string, end: string) => {
      const make = tables[name];
      if (!make) throw new ToolError(`README.md asks for a table "${name}", which there is not`);
      return `${start}\n${make()}\n${end}`;
    },
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
