/** Pulumi with a home and a state of its own, apart from the developer's login, stacks and plugins. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** Makes home and state in this folder, and returns the environment that uses them. */
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
