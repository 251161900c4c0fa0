/** Finds the Pulumi home, which has the installed plugins and the ledger. */
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";

/** Returns the Pulumi home that the engine uses. Without PULUMI_HOME, the system's user database comes before HOME. */
export function pulumiHome(env: NodeJS.ProcessEnv): string {
  if (env["PULUMI_HOME"]) return env["PULUMI_HOME"];
  for (const home of [() => userInfo().homedir, homedir]) {
    try {
      return join(home(), ".pulumi");
    } catch {
      // The user is not in the database, as in many containers. Then HOME counts, if it is set.
    }
  }
  return join(tmpdir(), ".pulumi");
}
