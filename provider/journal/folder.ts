/** Where the journal lies: in the Pulumi home, apart for each state backend. */
import { readdirSync, readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { withoutPasswords } from "../backendUrl";
import { fingerprint } from "../fingerprint";

/**
 * The journal of this run. Two backends may well have a stack of the same name each: same URNs. A new
 * password makes no other backend, and nothing to guess an old one by is kept.
 */
export function journalFolder(env: NodeJS.ProcessEnv): string {
  const url = withoutPasswords(backendOf(env));
  return join(journalRoot(env), fingerprint(url, 12));
}

/** The journals of every backend, for a person who looks for what is left open. */
export function journalFolders(env: NodeJS.ProcessEnv): string[] {
  const root = journalRoot(env);
  try {
    return readdirSync(root).map((name) => join(root, name));
  } catch {
    return [];
  }
}

function journalRoot(env: NodeJS.ProcessEnv): string {
  return join(pulumiHome(env), "compute", "journal");
}

export function pulumiHome(env: NodeJS.ProcessEnv): string {
  return env["PULUMI_HOME"] || join(home(), ".pulumi");
}

/** As the engine finds it, but for one that Pulumi.yaml names: the plugin is not told of that. */
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
