/** Minimal Pulumi YAML programs for the engine tests. */
import { canaries } from "./secrets";

export type Inputs = Readonly<Record<string, unknown>>;

/** The required inputs of an instance. */
export const required: Inputs = {
  flavorId: "standard-2",
  imageId: "debian-12",
  vpcId: "vpc-main",
};

/** User data that contains a canary. */
export const userData = `#cloud-config\n# ${canaries.userData}\n`;

interface Resource {
  inputs?: Inputs;
  options?: Inputs;
}

/** Returns a program of instances by resource name. The `required` inputs are set unless they are overridden. */
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
  // Every JSON value is valid YAML.
  return Object.entries({ resources: declared, ...rest })
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join("");
}

/** Returns a program of the instance `web`. */
export function oneInstance(inputs: Inputs = {}, options?: Inputs): string {
  return instances({ web: { inputs, ...(options ? { options } : {}) } });
}
