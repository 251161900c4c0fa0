/** Makes the tables, lists and examples in Markdown pages, from the provider's definitions and the results in bench/. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";
import scalingRows from "../../bench/scaling.json";
import metadata from "../../metadata.json";
import { tableRows } from "../../bench/figure";
import { optionFlags } from "../../emulator/options";
import { settingDescriptions, settingNames } from "../../provider/config/settings";
import {
  inputDescriptions,
  inputNames,
  isRequired,
  isScript,
  outputs,
} from "../../provider/instance/definition";
import { exampleBlock, exampleLanguages, titleOf, type ExampleLanguage } from "../sdk/examples";
import { sdkLanguages, sdkNames } from "../sdk/languages";
import { ToolError } from "../support/main";
import { root } from "../support/paths";

/** The content for each `<!-- table: NAME -->` of a page. */
export type Tables = Readonly<Record<string, () => string>>;

const settings = () =>
  table(
    ["Setting", "Meaning"],
    settingNames.map((name) => [`\`compute:${name}\``, settingDescriptions[name]]),
  );
const measured = (which: "chosen" | "all") => () =>
  table(["Measured", "Here", "Beside", "Ratio"], tableRows(which));

const scaling = () => {
  const [head = [], ...rows] = scalingRows;
  return table(head, rows);
};

export const pagesWithTables: Readonly<Record<string, Tables>> = {
  "README.md": { settings, measured: measured("chosen") },
  "docs/instance.md": {
    inputs: () =>
      table(
        ["Input", "Meaning"],
        inputNames.map((name) => [
          `\`${name}\`${isRequired(name) ? " (required)" : ""}`,
          inputDescriptions[name] + (isScript(name) ? " Secret." : ""),
        ]),
      ),
    outputs: () =>
      table(
        ["Output", "Meaning"],
        Object.entries(outputs).map(([name, { description }]) => [`\`${name}\``, description]),
      ),
  },
  "docs/try.md": {
    options: () =>
      table(
        ["Option", "Meaning"],
        optionFlags.map(({ flag, help }) => [`\`${flag}\``, help]),
      ),
  },
  "docs/performance.md": { measured: measured("all") },
  "docs/scaling.md": { scaling },
  // Pulumi's Registry publishes these two.
  "docs/_index.md": { example: () => chooser(exampleBlock) },
  "docs/installation-configuration.md": {
    packages: packageList,
    install: () => chooser(installBlock),
    settings,
  },
};

/**
 * Returns the page with new content between each `<!-- table: NAME -->` (or `list`, `chooser`) and `<!-- end -->`.
 * @throws {ToolError} if there is no such table
 */
export async function pageWithTables(page: string, tables: Tables): Promise<string> {
  const filled = readFileSync(join(root, page), "utf8").replace(
    /(<!-- (?:table|list|chooser): (\w+) -->\n)[^]*?(\n<!-- end -->)/g,
    (_, start: string, name: string, end: string) => {
      const make = tables[name];
      if (!make) throw new ToolError(`${page} asks for a table "${name}", which does not exist`);
      return `${start}\n${make()}\n${end}`;
    },
  );
  return format(filled, { parser: "markdown", printWidth: 100 });
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Makes a tab for each language, in the Registry's shortcodes. */
function chooser(contentOf: (language: ExampleLanguage) => string): string {
  const tabs = exampleLanguages.map(
    (language) =>
      `{{% choosable language ${language} %}}\n\n${contentOf(language)}\n\n{{% /choosable %}}`,
  );
  const languages = exampleLanguages.join(",");
  return [`{{< chooser language "${languages}" >}}`, ...tabs, "{{< /chooser >}}"].join("\n\n");
}

function installBlock(language: ExampleLanguage): string {
  const sdk = Object.values(sdkLanguages).find(({ example }) => example === language);
  if (sdk) return sdk.install;
  const { name, version, pluginDownloadURL } = metadata;
  const command = `pulumi plugin install resource ${name} ${version} --server ${pluginDownloadURL}`;
  return `A YAML program needs no package, only the plugin:\n\n\`\`\`sh\n${command}\n\`\`\``;
}

function packageList(): string {
  const { nodejs, python, go, dotnet, java } = metadata.sdk;
  const coordinates = `${java.groupId}/${java.artifactId}`;
  const homes: Record<(typeof sdkNames)[number], [string, string]> = {
    nodejs: [nodejs.package, `https://www.npmjs.com/package/${nodejs.package}`],
    python: [python.package, `https://pypi.org/project/${python.package.replaceAll("_", "-")}/`],
    go: [go.module, `https://pkg.go.dev/${go.module}`],
    dotnet: [dotnet.package, `https://www.nuget.org/packages/${dotnet.package}`],
    java: [coordinates, `https://central.sonatype.com/artifact/${coordinates}`],
  };
  return sdkNames
    .map((name) => {
      const [package_, home] = homes[name];
      return `- ${titleOf(sdkLanguages[name].example)}: [\`${package_}\`](${home})`;
    })
    .join("\n");
}
