/** Finds the folders of the ledger of pending creates: in the Pulumi home, one for each state backend. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { withoutPasswords } from "../addresses";
import { fingerprint } from "../fingerprint";
import { pulumiHome } from "../pulumiHome";

/**
 * Returns the ledger's folder for this run's backend, since two backends may have stacks with the same URNs. The folder's
 * name is a hash of the backend's address without the password, so a new password does not change the folder.
 */
export function ledgerFolder(env: NodeJS.ProcessEnv): string {
  return join(ledgerRoot(env), fingerprint(withoutPasswords(backendUrl(env)), 12));
}

/** Returns the ledger folders of all backends in this Pulumi home, or none if the home can't be read. */
export function ledgerFolders(env: NodeJS.ProcessEnv): string[] {
  const root = ledgerRoot(env);
  try {
    return readdirSync(root).map((name) => join(root, name));
  } catch {
    return [];
  }
}

function ledgerRoot(env: NodeJS.ProcessEnv): string {
  return join(pulumiHome(env), "compute", "ledger");
}

/** Returns the address of the backend that the engine uses. A backend that only Pulumi.yaml names is not known here. */
function backendUrl(env: NodeJS.ProcessEnv): string {
  const url = env["PULUMI_BACKEND_URL"] || loggedInBackend(env) || "";
  const [, path] = /^file:\/\/([^~].*)$/.exec(url) ?? [];
  // A relative path means a different folder in each project, so it is made absolute, as the engine does.
  return path === undefined ? url.replace(/\/+$/, "") : `file://${resolve(path)}`;
}

/** Returns the backend that `pulumi login` chose, or undefined if the credentials file can't be read. */
function loggedInBackend(env: NodeJS.ProcessEnv): string | undefined {
  const folder = env["PULUMI_CREDENTIALS_PATH"] || pulumiHome(env);
  try {
    const text = readFileSync(join(folder, "credentials.json"), "utf8");
    const { current } = JSON.parse(text) as { current?: unknown };
    return typeof current === "string" ? current : undefined;
  } catch {
    return undefined;
  }
}
