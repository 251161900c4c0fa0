/** The functions in the schema: their inputs by definition, their outputs as `invoke` gives them. */
import type * as z from "zod";
import { functions } from "../../provider/functions/functions";
import { functionTokens, type FunctionToken } from "../../provider/pulumiNames";
import { ref, text, typeOf, type Property } from "./property";

const summaryToken = "compute:index:InstanceSummary";

const summary: Record<string, Property> = {
  id: text("Identifier of the instance."),
  name: text("Hostname of the instance; empty if the service gave none."),
  status: text("Status of the instance; empty if the service gave none."),
  ipv4: text("Public IPv4 address, once there is one."),
};
const summaryRequired = ["id", "name", "status"];

export const functionTypes = {
  [summaryToken]: {
    type: "object",
    description: "An instance, as the service lists it.",
    properties: summary,
    required: summaryRequired,
  },
};

function functionOutputs(token: FunctionToken) {
  switch (token) {
    case "compute:index:getInstance":
      return { type: "object", properties: summary, required: summaryRequired };
    case "compute:index:getInstances":
      return {
        type: "object",
        properties: {
          instances: {
            type: "array",
            items: ref(summaryToken),
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

export function functionSchema(token: FunctionToken) {
  const { description, inputs } = functions[token];
  const properties = Object.fromEntries(
    Object.entries(inputs as Record<string, { type: z.ZodType; description: string }>).map(
      ([name, input]) => [name, { ...typeOf(input.type), description: input.description }],
    ),
  );
  return { description, inputs: { type: "object", properties }, outputs: functionOutputs(token) };
}

export const functionSchemas = Object.fromEntries(
  functionTokens.map((token) => [token, functionSchema(token)]),
);
