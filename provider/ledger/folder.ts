/** Where the ledger lies: in the Pulumi home, apart for each state backend. */
import { readdirSync, readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { withoutPasswords } from "../backendUrl";
import { fingerprint } from "../fingerprint";

/**
 * The ledger's folder in this run: one for each backend, since two may have stacks of the same URNs. It is
 * named by the address without its password, so that a new password makes no other folder, and the name
 * tells nothing of it.
 */
export function ledgerFolder(env: NodeJS.ProcessEnv): string {
  const url = withoutPasswords(backendOf(env));
  return join(ledgerRoot(env), fingerprint(url, 12));
}

/** The ledger folders of every backend on this machine, for the commands. */
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
  return env["PULUMI_HOME"] || join(home(), ".pulumi");
}

/** The address, as the engine finds it; a backend that only Pulumi.yaml names is not known to the plugin. */
function backendOf(env: NodeJS.ProcessEnv): string {
  const url = env["PULUMI_BACKEND_URL"] || loggedInto(env) || "";
  // A relative folder is another one in each project.
  const absolute = url.replace(/^file:\/\/(?=\.)/, () => `file://${process.cwd()}/`);
  return absolute.replace(/\/+$/, "");
}

function loggedInto(env: NodeJS.ProcessEnv): string | undefined {
  const folder = env["PULUMI_CREDENTIALS_PATH"] || pulumiHome(env);
  try {
    const text = readFileSync(join(folder, "credentials.json"), "utf8");
    const { current } = JSON.parse(text) as { current?: unknown };
    return typeof current === "string" ? current : undefined;
  } catch {
    return undefined;
  }
}

function home(): string {
  try {
    return homedir();
  } catch {
    // A user without an entry in passwd and without HOME.
    return tmpdir();
  }
}
