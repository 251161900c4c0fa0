/** Gives Pulumi a home and a state of its own, so that the developer's login, stacks and plugins have no effect. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/**
 * Makes the folders `home` and `state` in `folder`, and returns the environment variables with which Pulumi uses them.
 */
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
