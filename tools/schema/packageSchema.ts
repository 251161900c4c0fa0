/** The Pulumi package schema, made from the definitions that the provider itself runs on. */
import * as z from "zod";
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
import { functions } from "../../provider/resources/functions";
import {
  inputNames,
  inputTypes,
  instanceDescription,
  isRequired,
  networkDescriptions,
  outputs,
  traitsOf,
  type InputName,
  type Output,
} from "../../provider/resources/instance/definition";
import { instanceToken } from "../../provider/tokens";
import { exampleUsage } from "../sdk/examples";

const networkToken = "compute:index:Network";
const instanceSummaryToken = "compute:index:InstanceSummary";

interface Property {
  type?: string;
  items?: Property;
  $ref?: string;
  description?: string;
  secret?: boolean;
  willReplaceOnChanges?: boolean;
}

const text = (description: string): Property => ({ type: "string", description });
const ref = (token: string): Property => ({ $ref: `#/types/${token}` });

/** Text, number, boolean or a list of these: all that our inputs are. */
function typeOf(type: z.ZodType): Property {
  const json = z.toJSONSchema(type, { io: "input", unrepresentable: "any" }) as {
    type?: string;
    items?: { type?: string };
  };
  const name = json.type ?? "string";
  return json.items ? { type: name, items: { type: json.items.type ?? "string" } } : { type: name };
}

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

function instanceInput(name: InputName): Property {
  const { description, secret } = traitsOf(name);
  return {
    ...typeOf(inputTypes[name]),
    description,
    ...(secret ? { secret } : {}),
    // No update call exists (G5).
    willReplaceOnChanges: true,
  };
}

const instanceInputs = Object.fromEntries(inputNames.map((name) => [name, instanceInput(name)]));

/** What the service adds. */
function added({ description, type }: Output): Property {
  return type === "networks"
    ? { type: "array", items: ref(networkToken), description }
    : text(description);
}

/** An output never replaces anything. */
const echoedInputs = Object.fromEntries(
  Object.entries(instanceInputs).map(([name, { willReplaceOnChanges: _, ...output }]) => [
    name,
    output,
  ]),
);

const instanceOutputs: Record<string, Property> = {
  ...echoedInputs,
  ...Object.fromEntries(Object.entries(outputs).map(([name, output]) => [name, added(output)])),
};

const alwaysThere = [
  "name",
  ...inputNames.filter(isRequired),
  ...Object.keys(outputs).filter((name) => outputs[name]?.always),
];

const summary: Record<string, Property> = {
  id: text("Identifier of the instance."),
  name: text("Hostname of the instance; empty if the service gave none."),
  status: text("Status of the instance; empty if the service gave none."),
  ipv4: text("Public IPv4 address, once there is one."),
};
const summaryRequired = ["id", "name", "status"];

function functionOutputs(token: keyof typeof functions) {
  switch (token) {
    case "compute:index:getInstance":
      return { type: "object", properties: summary, required: summaryRequired };
    case "compute:index:getInstances":
      return {
        type: "object",
        properties: {
          instances: {
            type: "array",
            items: ref(instanceSummaryToken),
            description: "The instances.",
          },
          complete: {
            type: "boolean",
            description:
              "Whether these are all there are. The list shows 100 at the most (100 of each status) unless `compute:cursorParameter` is set.",
          },
        },
        required: ["instances", "complete"],
      };
    case "compute:index:getAccount":
      return {
        type: "object",
        properties: {
          tokenKind: text("`live` (billed) or `test` (sandbox)."),
          baseUrl: text("Address of the service."),
          details: {
            ...text("What the service answered, as JSON text; its fields are not documented."),
            secret: true,
          },
        },
        required: ["tokenKind", "baseUrl", "details"],
      };
  }
}

function functionSchema(token: keyof typeof functions) {
  const { description, inputs } = functions[token];
  const properties = Object.fromEntries(
    Object.entries(inputs as Record<string, { type: z.ZodType; description: string }>).map(
      ([name, input]) => [name, { ...typeOf(input.type), description: input.description }],
    ),
  );
  return { description, inputs: { type: "object", properties }, outputs: functionOutputs(token) };
}

const { nodejs, python, go, dotnet, java } = metadata.sdk;

const languages = {
  nodejs: {
    packageName: nodejs.package,
    packageDescription: metadata.description,
    dependencies: { "@pulumi/pulumi": nodejs.pulumi },
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
    types: {
      [networkToken]: {
        type: "object",
        description: "A network that an instance is attached to.",
        properties: Object.fromEntries(
          Object.entries(networkDescriptions).map(([name, about]) => [name, text(about)]),
        ),
        required: ["type", "ipv4"],
      },
      [instanceSummaryToken]: {
        type: "object",
        description: "An instance, as the service lists it.",
        properties: summary,
        required: summaryRequired,
      },
    },
    resources: {
      [instanceToken]: {
        description: `${instanceDescription}\n\n${exampleUsage("Web servers")}`,
        inputProperties: instanceInputs,
        requiredInputs: inputNames.filter(isRequired),
        properties: instanceOutputs,
        required: alwaysThere,
        listInputs: functionSchema("compute:index:getInstances").inputs,
      },
    },
    functions: Object.fromEntries(
      (Object.keys(functions) as (keyof typeof functions)[]).map((token) => [
        token,
        functionSchema(token),
      ]),
    ),
  };
}
