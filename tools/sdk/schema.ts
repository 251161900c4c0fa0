/** Makes the Pulumi package schema from the definitions that the provider itself uses, and from `functionOutputs`. */
import * as z from "zod";
import metadata from "../../metadata.json";
import rootPackage from "../../package.json";
import { pageAt } from "../../provider/advice";
import {
  secretSettings,
  settingDescriptions,
  settingEnvironment,
  settingNames,
  settingTypes,
} from "../../provider/config/settings";
import { functions } from "../../provider/functions/functions";
import {
  inputDescriptions,
  inputNames,
  inputTypes,
  instanceDescription,
  isRequired,
  isScript,
  isSent,
  networkDescriptions,
  outputs,
  requiredOutputs,
  type InputName,
} from "../../provider/instance/definition";
import { functionTokens, instanceToken, type FunctionToken } from "../../provider/pulumi/names";
import { exampleUsage, referenceExample, webServersExample } from "./examples";

/** As the schema describes it. */
export interface Property {
  type?: string;
  items?: Property;
  additionalProperties?: Property;
  $ref?: string;
  description?: string;
  secret?: boolean;
  willReplaceOnChanges?: boolean;
}

const { sdk, oldestEngine, testedEngine: _, newestEngine: __, ...about } = metadata;

const networkToken = "compute:index:Network";
const summaryToken = "compute:index:InstanceSummary";

/** The schema of this package. */
export type PackageSchema = ReturnType<typeof packageSchema>;

export function packageSchema() {
  const settings = settingProperties();
  const config = mapped(settings, withoutEnum);
  const environment = Object.values(settingEnvironment).join(", ");
  return {
    $schema:
      "https://raw.githubusercontent.com/pulumi/pulumi/master/pkg/codegen/schema/pulumi.json",
    ...about,
    configurationDocsUrl: pageAt("configure.md"),
    meta: { moduleFormat: "(.*)" },
    language: languageOptions(),
    config: { variables: config },
    provider: {
      description: [
        `The compute provider. The environment (${environment}) stands in for what is left out.`,
        exampleUsage(referenceExample("provider")),
      ].join("\n\n"),
      inputProperties: settings,
      properties: Object.fromEntries(
        Object.entries(config).filter(([name]) => name !== "apiToken"),
      ),
    },
    types: {
      [networkToken]: {
        type: "object",
        description: "A network that an instance is attached to.",
        properties: stringProperties(networkDescriptions),
        required: ["type", "ipv4"],
      },
      [summaryToken]: {
        type: "object",
        description: "An instance, as the service lists it.",
        ...instanceSummary,
      },
      ...enumTypes(),
    },
    resources: { [instanceToken]: instanceSchema() },
    functions: Object.fromEntries(functionTokens.map((token) => [token, functionSchema(token)])),
  };
}

function languageOptions() {
  const { nodejs, python, go, dotnet, java } = sdk;
  const { typescript, "@types/node": nodeTypes } = rootPackage.devDependencies;
  return {
    nodejs: {
      packageName: nodejs.package,
      packageDescription: about.description,
      dependencies: { "@pulumi/pulumi": `^${oldestEngine}` },
      // This repository's versions, because the SDK is one of its workspaces.
      typescriptVersion: typescript,
      devDependencies: { "@types/node": nodeTypes },
      respectSchemaVersion: true,
    },
    python: {
      packageName: python.package,
      pythonRequires: python.python,
      respectSchemaVersion: true,
      pyproject: { enabled: true },
    },
    go: {
      importBasePath: go.package,
      respectSchemaVersion: true,
      generateResourceContainerTypes: true,
    },
    csharp: { rootNamespace: dotnet.rootNamespace, respectSchemaVersion: true },
    java: { basePackage: java.basePackage },
  };
}

function settingProperties(): Record<string, Property> {
  return propertiesOf(settingNames, (name) => ({
    ...typeOf(settingTypes[name]),
    description: settingDescriptions[name],
    ...(secretSettings.has(name) ? { secret: true } : {}),
  }));
}

/**
 * Returns the property with a string in place of an enum. The stack's configuration has none, because the SDKs would read it as
 * JSON, nor have the provider's outputs, because the SDKs for Java and .NET would leave it out, nor the query of a list,
 * because `pulumi do` has no flags for enums.
 */
function withoutEnum({ $ref, ...property }: Property): Property {
  return $ref === undefined ? property : { type: "string", ...property };
}

/** Follows the description of an optional input among the outputs. */
const unreadNote =
  " Null after `get`, and after an import until the program sets it, because the service does not show it.";

/** Ends the description of the resource. */
const importSection = `## Import

An instance that already runs is imported by its id:

\`\`\`sh
pulumi import ${instanceToken} web i-123
\`\`\``;

function instanceSchema() {
  // The service has no update call (G5).
  const inputs = propertiesOf(inputNames, (name) =>
    isSent(name)
      ? { ...inputProperty(name, " A change replaces the instance."), willReplaceOnChanges: true }
      : inputProperty(name, " A change is made in place, and replaces nothing."),
  );
  const inputsAsOutputs = propertiesOf(inputNames, (name) =>
    inputProperty(name, requiredOutputs.includes(name) ? "" : unreadNote),
  );
  const added = mapped(outputs, ({ description, type }) =>
    type === "networks"
      ? { type: "array", items: ref(networkToken), description }
      : stringProperty(description),
  );
  return {
    description: [
      instanceDescription,
      exampleUsage(webServersExample(), referenceExample("instance-get")),
      importSection,
    ].join("\n\n"),
    inputProperties: inputs,
    requiredInputs: inputNames.filter(isRequired),
    properties: { ...inputsAsOutputs, ...added },
    required: requiredOutputs,
    listInputs: {
      type: "object",
      properties: mapped(
        functionSchema("compute:index:getInstances").inputs.properties,
        withoutEnum,
      ),
    },
  };
}

function inputProperty(name: InputName, note = ""): Property {
  const description = inputDescriptions[name] + note;
  return { ...typeOf(inputTypes[name]), description, ...(isScript(name) && { secret: true }) };
}

/** The example of each function, in examples/reference. */
const functionExamples: Readonly<Record<FunctionToken, string>> = {
  "compute:index:getInstance": "get-instance",
  "compute:index:getInstances": "get-instances",
  "compute:index:getAccount": "get-account",
};

function functionSchema(token: FunctionToken) {
  const { description, inputs } = functions[token];
  const properties = mapped(inputs, (type) => ({
    ...typeOf(type),
    description: type.description ?? "",
  }));
  return {
    description: `${description}\n\n${exampleUsage(referenceExample(functionExamples[token]))}`,
    inputs: { type: "object", properties },
    outputs: { type: "object", ...functionOutputs[token] },
  };
}

const instanceSummary = {
  properties: stringProperties({
    id: "Identifier of the instance.",
    name: "Hostname of the instance.",
    status: "Status of the instance.",
    ipv4: "Public IPv4 address of the instance.",
  }),
  required: ["id", "name", "status", "ipv4"],
};

const functionOutputs: Record<
  FunctionToken,
  { properties: Record<string, Property>; required: string[] }
> = {
  "compute:index:getInstance": instanceSummary,
  "compute:index:getInstances": {
    properties: {
      instances: { type: "array", items: ref(summaryToken), description: "The instances." },
      complete: {
        type: "boolean",
        description:
          "Whether these are all there are. Without a cursor (`compute:cursorParameter`), the list shows 100 at the most (100 of each status).",
      },
    },
    required: ["instances", "complete"],
  },
  "compute:index:getAccount": {
    properties: {
      tokenKind: stringProperty("`live` (billed) or `test` (sandbox)."),
      baseUrl: stringProperty("Address of the service."),
      details: {
        ...stringProperty(
          "What the service answered, as JSON text; its fields are not documented.",
        ),
        secret: true,
      },
    },
    required: ["tokenKind", "baseUrl", "details"],
  },
};

function propertiesOf<Name extends string>(
  names: readonly Name[],
  propertyOf: (name: Name) => Property,
): Record<string, Property> {
  return Object.fromEntries(names.map((name) => [name, propertyOf(name)]));
}

function mapped<T>(items: Readonly<Record<string, T>>, propertyOf: (item: T) => Property) {
  return propertiesOf(Object.keys(items), (name) => propertyOf(items[name] as T));
}

function stringProperty(description: string): Property {
  return { type: "string", description };
}

function stringProperties(descriptions: Readonly<Record<string, string>>) {
  return mapped(descriptions, stringProperty);
}

function ref(token: string): Property {
  return { $ref: `#/types/${token}` };
}

/** Returns an enum, or string, number, integer, boolean, or a list or a map of them. Our inputs have no other types. */
function typeOf(type: z.ZodType): Property {
  const json = jsonOf(type);
  if (json.enum) return ref(enumToken(json));
  const { type: name = "string", items, additionalProperties } = json;
  if (items) return { type: name, items: { type: items.type ?? "string" } };
  if (!additionalProperties) return { type: name };
  return { type: name, additionalProperties: { type: additionalProperties.type ?? "string" } };
}

/** The enums among the settings and the arguments of functions. */
function enumTypes() {
  const inputs = functionTokens.flatMap((token) => Object.values(functions[token].inputs));
  const enums = [...Object.values<z.ZodType>(settingTypes), ...inputs]
    .map(jsonOf)
    .filter((json) => json.enum);
  return Object.fromEntries(
    enums.map((json) => [
      enumToken(json),
      {
        type: "string",
        enum: (json.enum ?? []).map((value) => ({
          name: capitalized(value.toLowerCase()),
          value,
          description: `${capitalized(json.words?.[value] ?? "")}.`,
        })),
      },
    ]),
  );
}

/** What JSON Schema says of a type. */
interface JsonType {
  type?: string;
  items?: { type?: string };
  additionalProperties?: { type?: string };
  enum?: string[];
  title?: string;
  /** What each word of an enum means. */
  words?: Readonly<Record<string, string>>;
}

function jsonOf(type: z.ZodType): JsonType {
  return z.toJSONSchema(type, { unrepresentable: "any" }) as JsonType;
}

function enumToken({ title }: JsonType): string {
  if (title === undefined) throw new Error("an enum has no title, which is its name in the schema");
  return `compute:index:${title}`;
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
