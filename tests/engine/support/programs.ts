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

/** The Pulumi.yaml of a program without resources. */
export const emptyProgram = "resources: {}\n";

interface Resource {
  inputs?: Inputs;
  options?: Inputs;
}

/** Returns a program of instances by resource name, which have the `required` inputs, and of other keys or resources. */
export function instances(
  named: Readonly<Record<string, Resource>>,
  { resources, ...rest }: { resources?: Inputs; [key: string]: unknown } = {},
): string {
  const declared: Record<string, unknown> = { ...resources };
  for (const [name, { inputs, options = {} }] of Object.entries(named)) {
    const properties = { ...required, ...inputs };
    declared[name] = { type: "compute:Instance", properties, options };
  }
  // Every JSON value is valid YAML.
  return Object.entries({ resources: declared, ...rest })
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join("");
}

/** Returns a program of the instance `web`. */
export const oneInstance = (inputs: Inputs = {}, options: Inputs = {}) =>
  instances({ web: { inputs, options } });
