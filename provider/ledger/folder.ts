/** Where the ledger lies: in the Pulumi home, with a folder for each state backend. */
import { readdirSync, readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { withoutPasswords } from "../backendUrl";
import { fingerprint } from "../fingerprint";

/**
 * The ledger's folder in this run. Each backend has its own, since two backends may have stacks of the same
 * URNs. The folder's name is a hash of the backend's address without its password, so a new password makes no
 * other folder, and the name tells nothing of the address.
 */
export function ledgerFolder(env: NodeJS.ProcessEnv): string {
  return join(ledgerRoot(env), fingerprint(withoutPasswords(backendUrl(env)), 12));
}

/** The ledger folders of every backend on this machine. */
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

function pulumiHome(env: NodeJS.ProcessEnv): string {
  if (env["PULUMI_HOME"]) return env["PULUMI_HOME"];
  try {
    return join(homedir(), ".pulumi");
  } catch {
    // The user has no entry in passwd, and HOME is not set.
    return join(tmpdir(), ".pulumi");
  }
}

/** The address as the engine finds it. The plugin can't know a backend that only Pulumi.yaml names. */
function backendUrl(env: NodeJS.ProcessEnv): string {
  const url = env["PULUMI_BACKEND_URL"] || currentLogin(env) || "";
  // A relative folder is another one in each project.
  const absolute = url.replace(/^file:\/\/(?=\.)/, () => `file://${process.cwd()}/`);
  return absolute.replace(/\/+$/, "");
}

/** The backend that `pulumi login` chose. */
function currentLogin(env: NodeJS.ProcessEnv): string | undefined {
  const folder = env["PULUMI_CREDENTIALS_PATH"] || pulumiHome(env);
  try {
    const text = readFileSync(join(folder, "credentials.json"), "utf8");
    const { current } = JSON.parse(text) as { current?: unknown };
    return typeof current === "string" ? current : undefined;
  } catch {
    return undefined;
  }
}
