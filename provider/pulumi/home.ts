/** Finds the Pulumi home, which has the installed plugins and the ledger. */
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { attempt } from "../attempt";

/** Returns the Pulumi home that the engine uses. */
export function pulumiHome(env: NodeJS.ProcessEnv): string {
  return env["PULUMI_HOME"] || join(userHome(), ".pulumi");
}

/** Returns the user's home as the engine finds it: the system's user database comes before HOME. */
export function userHome(): string {
  // The user may not be in the database, as in many containers. Then HOME counts, if it is set.
  return attempt(() => userInfo().homedir) ?? attempt(homedir) ?? tmpdir();
}
