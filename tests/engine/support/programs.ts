/** Pulumi YAML programs, as small as a test can have them. */
import { canaries } from "./secrets";

export type Inputs = Readonly<Record<string, unknown>>;

export const required: Inputs = {
  flavorId: "standard-2",
  imageId: "debian-12",
  vpcId: "vpc-main",
};

export const userData = `#cloud-config\n# ${canaries.userData}\n`;

interface Resource {
  inputs?: Inputs;
  options?: Inputs;
}

/** A program of instances by resource name; `required` inputs are there unless overridden. */
export function instances(
  resources: Readonly<Record<string, Resource>>,
  rest: Inputs = {},
): string {
  const declared = Object.fromEntries(
    Object.entries(resources).map(([name, { inputs, options }]) => [
      name,
      {
        type: "compute:Instance",
        properties: { ...required, ...inputs },
        ...(options ? { options } : {}),
      },
    ]),
  );
  // JSON is YAML.
  return Object.entries({ resources: declared, ...rest })
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join("");
}

export function oneInstance(inputs: Inputs = {}, options?: Inputs): string {
  return instances({ web: { inputs, ...(options ? { options } : {}) } });
}
