/** Gives Pulumi a home and a state apart from the developer's login, stacks and plugins. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Makes `home` and `state` in `folder`. Returns the variables with which Pulumi uses them. */
export function ownPulumi(folder: string): NodeJS.ProcessEnv {
  const [home, state] = [join(folder, "home"), join(folder, "state")];
  for (const path of [home, state]) mkdirSync(path, { recursive: true });
  return {
    PULUMI_HOME: home,
    PULUMI_BACKEND_URL: fileBackend(state),
    PULUMI_CONFIG_PASSPHRASE: "demo",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
  };
}

/** Returns the URL of a folder as the engine reads it: percent-encoded, and on Windows with no slash before the drive. */
export function fileBackend(folder: string, windows = process.platform === "win32"): string {
  const { pathname } = pathToFileURL(folder, { windows });
  return `file://${windows ? pathname.slice(1) : pathname}`;
}
