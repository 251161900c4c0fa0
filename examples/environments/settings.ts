/** What a stack may set, checked before anything is made. */
import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

const group = z.strictObject({
  count: z.int().min(0).max(50),
  flavorId: z.string().min(1),
});

const definition = z.strictObject({
  /** The stack of the network project whose network to use. */
  network: z.string().min(1),
  imageId: z.string().min(1),
  /** Whether Pulumi refuses to delete or replace what there is. */
  protect: z.boolean().default(false),
  groups: z.strictObject({ web: group, worker: group }),
});

export type Settings = z.infer<typeof definition>;
export type Role = keyof Settings["groups"];

/** Those of the current stack. */
export function readSettings(config = new pulumi.Config()): Settings {
  const settings = {
    network: config.get("network"),
    imageId: config.get("imageId"),
    protect: config.getBoolean("protect"),
    groups: config.getObject<unknown>("groups"),
  };
  return checked(settings, config.name, pulumi.getStack());
}

/** Says all that is wrong at once. */
export function checked(settings: unknown, project: string, stack: string): Settings {
  const { data, error } = definition.safeParse(settings);
  if (data) return data;
  const problems = error.issues.map(({ path, message }) => {
    const [first, ...rest] = path.map(String);
    return `  ${project}:${[first, ...rest].join(".")}: ${message}`;
  });
  throw new pulumi.RunError(
    `The settings of the stack ${stack} can't be used:\n${problems.join("\n")}\n` +
      `Mend Pulumi.${stack}.yaml, or for example: pulumi config set --path groups.web.count 2`,
  );
}
