/** Runs Pulumi with its own home and state, so that the developer's login, stacks and plugins have no effect. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** Makes the folders for home and state in this folder, and returns the environment that uses them. */
export function ownPulumi(folder: string): NodeJS.ProcessEnv {
  const [home, state] = [join(folder, "home"), join(folder, "state")];
  for (const path of [home, state]) mkdirSync(path, { recursive: true });
  return {
    PULUMI_HOME: home,
    PULUMI_BACKEND_URL: `file://${state}`,
    PULUMI_CONFIG_PASSPHRASE: "demo",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
  };
}
