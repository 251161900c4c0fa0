/** What is filled into the pages for Pulumi's Registry: a choice of languages, made from what the tests run. */
import metadata from "../../metadata.json";
import { exampleBlock, exampleLanguages, titleOf, type ExampleLanguage } from "../sdk/examples";
import { sdkLanguages, sdkNames } from "../sdk/languages";
import { readmeTables, type Tables } from "./tables";

/** The pages by path. The Registry takes their names as they are. */
export const registryPages: Readonly<Record<string, Tables>> = {
  "docs/_index.md": { example: () => chooser(exampleBlock) },
  "docs/installation-configuration.md": {
    packages: packageList,
    install: () => chooser(installBlock),
    settings: readmeTables.settings,
  },
};

/** One tab a language, in the Registry's shortcodes. */
function chooser(of: (language: ExampleLanguage) => string): string {
  const tabs = exampleLanguages.map(
    (language) => `{{% choosable language ${language} %}}\n\n${of(language)}\n\n{{% /choosable %}}`,
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

/** Where each language's registry shows the package. */
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
