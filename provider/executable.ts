/** The plugin as a person types it: the name that Pulumi looks for, and where it lies. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import metadata from "../metadata.json";

export const executable = `pulumi-resource-${metadata.name}`;

export const whatItIs = `The ${metadata.name} plugin for Pulumi, ${metadata.version}. Pulumi starts it by itself.`;

/** The executable lies beside the bundle that runs; PATH need not have it. */
export function executablePath(): string {
  const beside = join(__dirname, executable);
  return existsSync(beside) ? beside : executable;
}
