/** The Pulumi package schema, made from the definitions that the provider itself runs on. */
import metadata from "../../metadata.json";
import rootPackage from "../../package.json";
import {
  secretSettings,
  settingDescriptions,
  settingEnvironment,
  settingNames,
  settingTypes,
  type SettingName,
} from "../../provider/config/settings";
import { functionSchemas, functionTypes } from "./functions";
import { instanceResource, instanceTypes } from "./instance";
import { typeOf, type Property } from "./property";

/** Settings are read from text too, which hides their type; this is what a program gives. */
const settingKinds: Partial<Record<SettingName, string>> = {
  requestsPerMinute: "integer",
  requestTimeoutSeconds: "number",
  pollIntervalSeconds: "number",
  settlingSeconds: "number",
  validateCredentials: "boolean",
};

function settings(): Record<string, Property> {
  return Object.fromEntries(
    settingNames.map((name) => [
      name,
      {
        ...(settingKinds[name] ? { type: settingKinds[name] } : typeOf(settingTypes[name])),
        description: settingDescriptions[name],
        ...(secretSettings.has(name) ? { secret: true } : {}),
      },
    ]),
  );
}

const { nodejs, python, go, dotnet, java } = metadata.sdk;

const languages = {
  nodejs: {
    packageName: nodejs.package,
    packageDescription: metadata.description,
    dependencies: { "@pulumi/pulumi": `^${metadata.oldestEngine}` },
    // Those of this repository, whose workspace it is.
    typescriptVersion: rootPackage.devDependencies.typescript,
    devDependencies: { "@types/node": rootPackage.devDependencies["@types/node"] },
    respectSchemaVersion: true,
  },
  python: {
    packageName: python.package,
    pythonRequires: python.python,
    respectSchemaVersion: true,
    pyproject: { enabled: true },
  },
  go: {
    importBasePath: go.module,
    respectSchemaVersion: true,
    generateResourceContainerTypes: true,
  },
  csharp: { rootNamespace: dotnet.rootNamespace, respectSchemaVersion: true },
  java: { basePackage: java.basePackage },
};

export function packageSchema() {
  const config = settings();
  return {
    $schema:
      "https://raw.githubusercontent.com/pulumi/pulumi/master/pkg/codegen/schema/pulumi.json",
    name: metadata.name,
    displayName: metadata.displayName,
    version: metadata.version,
    description: metadata.description,
    keywords: metadata.keywords,
    homepage: metadata.homepage,
    license: metadata.license,
    repository: metadata.repository,
    publisher: metadata.publisher,
    pluginDownloadURL: metadata.pluginDownloadURL,
    meta: { moduleFormat: "(.*)" },
    language: languages,
    config: { variables: config },
    provider: {
      description: `The compute provider. The environment (${Object.values(settingEnvironment).join(", ")}) stands in for what is left out.`,
      inputProperties: config,
      properties: Object.fromEntries(
        Object.entries(config).filter(([name]) => name !== "apiToken"),
      ),
    },
    types: { ...instanceTypes, ...functionTypes },
    resources: instanceResource,
    functions: functionSchemas,
  };
}
