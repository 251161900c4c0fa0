/** The resource Instance in the schema. */
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
} from "../../provider/instance/definition";
import { instanceToken } from "../../provider/pulumiNames";
import { exampleUsage } from "../sdk/examples";
import { functionSchema } from "./functions";
import { ref, text, typeOf, type Property } from "./property";

const networkToken = "compute:index:Network";

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

export const instanceTypes = {
  [networkToken]: {
    type: "object",
    description: "A network that an instance is attached to.",
    properties: Object.fromEntries(
      Object.entries(networkDescriptions).map(([name, about]) => [name, text(about)]),
    ),
    required: ["type", "ipv4"],
  },
};

export const instanceResource = {
  [instanceToken]: {
    description: `${instanceDescription}\n\n${exampleUsage("Web servers")}`,
    inputProperties: instanceInputs,
    requiredInputs: inputNames.filter(isRequired),
    properties: instanceOutputs,
    required: alwaysThere,
    listInputs: functionSchema("compute:index:getInstances").inputs,
  },
};
