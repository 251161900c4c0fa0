/**
 * Makes all that is generated in Markdown pages: lists from the provider's definitions and the results in bench/, and the
 * two pages that the Pulumi Registry reads from this repository, from README.md, docs/install.md and docs/configure.md.
 */
import { posix } from "node:path";
import { amount, figuresOf, measurements, readResults } from "../../bench/figure";
import scalingRows from "../../bench/scaling.json";
import metadata from "../../metadata.json";
import { settingDescriptions, settingNames } from "../../provider/config/settings";
import {
  emptyOutputs,
  inputDescriptions,
  inputNames,
  isScript,
  outputs,
} from "../../provider/instance/definition";
import { functionTokens, instanceToken } from "../../provider/pulumi/names";
import {
  exampleBlock,
  exampleLanguages,
  referenceExample,
  titleOf,
  type ExampleLanguage,
} from "../sdk/examples";
import { sdkLanguages, sdkNames } from "../sdk/languages";
import { packageSchema, type Property } from "../sdk/schema";
import { committedChecksum } from "../dist/archives";
import { lockedPackage, platformNames, platforms, type Platform } from "../dist/platforms";
import { goVersion } from "../support/go";
import { repositoryFiles } from "../support/paths";
import { blocksOf, sectionOf, type Page } from "./markdown";
import { readPage } from "./pages";
import { definitions, filledPage, formatted, table, type Contents } from "./tables";

const code = (text: string) => `\`${text}\``;

const filled: Readonly<Record<string, Contents>> = {
  "README.md": { peers: peerTable, versions: versionTable },
  "docs/configure.md": {
    settings: () =>
      definitions(
        settingNames.map((name) => ({
          name: code(`compute:${name}`),
          text: settingDescriptions[name],
        })),
      ),
  },
  "docs/upgrade.md": { checksums: checksumTable },
  "docs/instance.md": { inputTable, inputs: inputList, outputTable, outputs: outputList },
  "docs/performance.md": { measured: () => definitions(measurements()) },
  "docs/scaling.md": {
    scaling: () => {
      const [head = [], ...rows] = scalingRows;
      return table(head, rows);
    },
  },
};

const instance = packageSchema().resources[instanceToken];

function inputTable(): string {
  const required = new Set<string>(instance.requiredInputs);
  const rows = Object.entries(instance.inputProperties).map(([name, property]) => [
    code(name),
    typeName(property),
    required.has(name) ? "yes" : "no",
    required.has(name) ? "" : name === "name" ? "generated" : "none",
    property.willReplaceOnChanges ? "replaces the instance" : "in place",
  ]);
  return table(["Input", "Type", "Required", "Default", "A change"], rows);
}

function inputList(): string {
  return definitions(
    inputNames.map((name) => ({
      name: code(name),
      text: inputDescriptions[name] + (isScript(name) ? " Secret." : ""),
    })),
  );
}

function outputTable(): string {
  const rows = Object.keys(outputs).map((name) => {
    const empty = emptyOutputs[name];
    return [
      code(name),
      typeName(instance.properties[name] ?? {}),
      empty === null ? "null" : code(JSON.stringify(empty)),
    ];
  });
  return table(["Output", "Type", "Where the service has not shown it"], rows);
}

function outputList(): string {
  return definitions(
    Object.entries(outputs).map(([name, { description }]) => ({
      name: code(name),
      text: description,
    })),
  );
}

/** In the words of a reader: "list of string". */
function typeName({ type, items, additionalProperties, $ref }: Property): string {
  if ($ref !== undefined) return code($ref.split(":").at(-1) ?? "");
  if (additionalProperties) return `map of ${typeName(additionalProperties)}`;
  return type === "array" ? `list of ${typeName(items ?? {})}` : (type ?? "");
}

/** The least versions. */
function versionTable(): string {
  const { nodejs, python, dotnet, java } = metadata.sdk;
  const number = (version: string) => version.replace(/^[^\d]*/, "");
  const rows = [
    ["Pulumi", number(metadata.oldestEngine)],
    [
      "Node.js",
      `${number(nodejs.node)} for the SDK (${nodejs.pluginNodes[0]} for the plugin of the npm package)`,
    ],
    ["Python", number(python.python)],
    ["Go", goVersion("engine")],
    ["Java", String(java.release)],
    [".NET", `${number(dotnet.targetFramework)} (not compiled yet)`],
    ["Linux", "glibc 2.28"],
    ["macOS", "13.5 (not run there yet)"],
    ["Windows", "10 (run only under Wine yet, and not on arm64)"],
  ];
  const nodes = Map.groupBy(platformNames, (platform) => nodeOf(platform));
  const [[node = ""] = [], ...otherNodes] = [...nodes];
  const except = otherNodes.map(([version, on]) => ` (${on.join(", ")}: ${version})`).join("");
  const { testedEngine: tested, newestEngine: newest } = metadata;
  const others = newest === tested ? "" : ` The core tests were also seen to pass with ${newest}.`;
  return `${table(["", "At least"], rows)}

All tests ran with Pulumi ${tested}.${others} The plugin includes Node.js ${node}${except}.`;
}

const nodeOf = (platform: Platform) => lockedPackage(`node_modules/${platforms[platform]}`).version;

function checksumTable(): string {
  const rows = platformNames.map((platform) => [platform, code(committedChecksum(platform))]);
  return table(["Platform", `SHA-256 of the archive of version ${metadata.version}`], rows);
}

/** What the peers of the benchmark need for the same work: time and requests. */
function peerTable(): string {
  const figures = figuresOf(readResults());
  const cell = (what: string, peer: RegExp, side: "ours" | "theirs") => {
    const value = (suffix: string) => {
      const found = figures.find(
        (figure) => figure.what === what + suffix && peer.test(figure.against),
      );
      if (!found) throw new Error(`no figure of "${what}${suffix}" beside ${peer}`);
      return amount(found[side].median, found.unit);
    };
    return `${value("")}, ${value(": requests")}`;
  };
  // A machine may lack a peer.
  const measured = Object.entries({
    "a dynamic provider": /dynamic provider( that polls each)?$/,
    "one that lists for all": /lists once for all/,
    "`restapi`, which does not wait": /restapi/,
  }).filter(([, peer]) => figures.some(({ against }) => peer.test(against)));
  const row = (title: string, what: string) => [
    title,
    cell(what, /./, "ours"),
    ...measured.map(([, peer]) => cell(what, peer, "theirs")),
  ];
  return table(
    ["90 servers", "this provider", ...measured.map(([title]) => title)],
    [
      row("create", "up of 90 instances"),
      row("preview with a refresh", "preview with a refresh of 90 instances"),
    ],
  );
}

/** Returns each page that is generated, or of which a part is, by its path. */
export async function generatedPages(): Promise<Record<string, string>> {
  const pages: Record<string, string> = {};
  for (const [name, contents] of Object.entries(filled)) {
    pages[name] = await filledPage(name, contents);
  }
  const pageOf = (name: string): Page => {
    const text = pages[name];
    return text === undefined ? readPage(name) : { name, text };
  };
  for (const name of repositoryFiles().filter((file) => file.startsWith("examples/pipelines/"))) {
    const checksum = `--checksum ${committedChecksum("linux-amd64")}`;
    pages[name] = readPage(name).text.replace(/--checksum [0-9a-f]{64}\b/g, checksum);
  }
  pages["docs/_index.md"] = await formatted(overview(pageOf));
  pages["docs/installation-configuration.md"] = await formatted(installation(pageOf));
  return pages;
}

type PageOf = (name: string) => Page;

function overview(pageOf: PageOf): string {
  const readme = pageOf("README.md");
  const [, introduction = ""] = readme.text.split("\n\n");
  const section = (title: string) =>
    `## ${title}\n\n${onRegistry(readme, sectionOf(readme, title))}`;
  return [
    frontMatter(
      metadata.displayName,
      "Create, wait for, read back and import virtual servers of the Compute Instances Service with Pulumi.",
    ),
    onRegistry(readme, introduction),
    "## Example Usage",
    "Two equal web servers. All programs but those in YAML and HCL need the setting `count`: `pulumi config set count 2`.",
    chooser(exampleBlock),
    "[Installation & Configuration](./installation-configuration/) says how to get the provider, and how to configure it.",
    `The API docs describe ${new Intl.ListFormat("en").format([instanceToken, ...functionTokens].map(apiPage))}.`,
    section("What is there, and what is not"),
    section("What is promised"),
    // Further items are for people who change the provider.
    `## More\n\n${onRegistry(readme, firstItems(sectionOf(readme, "More"), 3))}`,
  ].join("\n\n");
}

function installation(pageOf: PageOf): string {
  const install = pageOf("docs/install.md");
  const configure = pageOf("docs/configure.md");
  const section = (title: string) => onRegistry(configure, sectionOf(configure, title));
  const some = sectionOf(configure, "For some resources only");
  const [about = ""] = some.split("\n```typescript");
  const programs = blocksOf({ name: "the example", text: referenceExample("provider") });
  return [
    frontMatter(
      `${metadata.displayName} Installation & Configuration`,
      `How to install the ${metadata.displayName} provider for Pulumi, and how to configure it.`,
    ),
    "## Installation",
    "The provider has a package for each of Pulumi's languages:",
    packageList(),
    chooser(installBlock),
    onRegistry(install, sectionOf(install, "The plugin")),
    "## Configuration",
    section("What a program needs"),
    "### What you need from the service",
    section("What you need from the service"),
    "### For some resources only",
    onRegistry(configure, about),
    chooser((language) => {
      const program = programs.find((block) => block.language === language);
      if (!program) throw new Error(`the example has no program in ${titleOf(language)}`);
      return `\`\`\`${language}\n${program.text.trimEnd()}\n\`\`\``;
    }),
    "## Settings",
    section("Settings"),
  ].join("\n\n");
}

/** Returns the first items of a list that begins the text. */
function firstItems(text: string, count: number): string {
  return text
    .trimStart()
    .split(/^(?=- )/m)
    .slice(0, count)
    .join("")
    .trimEnd();
}

function apiPage(token: string): string {
  const name = token.split(":").at(-1) ?? "";
  return `[\`${name}\`](./api-docs/${name.toLowerCase()}/)`;
}

function frontMatter(title: string, description: string): string {
  return `---\ntitle: ${title}\nmeta_desc: ${description}\nlayout: package\n---`;
}

/** Returns a part of a page with links that work on the Registry, which has none of our other pages, and no comments. */
function onRegistry({ name }: Page, text: string): string {
  const base = `${metadata.repository}/blob/main/`;
  const parts = text.replace(/<!-- .* -->\n*/g, "").split(/^(```[^]*?^```$)/m);
  const linked = (part: string) =>
    part.replace(/\]\((?!https:)([^)#]*)(#[^)]*)?\)/g, (_, path: string, anchor = "") => {
      const target = path === "" ? name : posix.join(posix.dirname(name), path);
      return `](${base}${target}${anchor})`;
    });
  return parts.map((part, index) => (index % 2 === 0 ? linked(part) : part)).join("");
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
  const plugin = [
    `pulumi -C / plugin install resource ${name} ${version}`,
    `  --server ${pluginDownloadURL}`,
    `  --checksum ${committedChecksum("linux-amd64")}`,
  ].join(" \\\n");
  const others = `${metadata.repository}/blob/main/docs/upgrade.md#check-an-archive`;
  return `A program in YAML or HCL needs the plugin, and a file in \`sdks/\` that names it. The checksum is that for Linux on x64
([the others](${others})). In a folder whose \`Pulumi.yaml\` names the plugin, Pulumi would ignore it, hence \`-C /\`.

\`\`\`sh
${plugin}
pulumi package add ${name}
\`\`\``;
}

function packageList(): string {
  const { nodejs, python, go, dotnet, java } = metadata.sdk;
  const coordinates = `${java.groupId}/${java.artifactId}`;
  const homes: Record<(typeof sdkNames)[number], [string, string]> = {
    nodejs: [nodejs.package, `https://www.npmjs.com/package/${nodejs.package}`],
    python: [python.package, `https://pypi.org/project/${python.package.replaceAll("_", "-")}/`],
    go: [go.package, `https://pkg.go.dev/${go.package}`],
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
