/** Finds the folders of the ledger of creates in doubt: in the Pulumi home, one for each state backend. */
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { unescape } from "node:querystring";
import { attempt } from "../attempt";
import { withoutPasswords } from "../addresses";
import { fingerprint } from "../fingerprint";
import { pulumiHome, userHome } from "../pulumi/home";

/**
 * Returns the ledger's folder for this run's backend, since two backends may have stacks with the same URNs. The folder's name is
 * a hash of the backend's address, which the engine finds in the environment, else in the project file, else in the login.
 */
export function ledgerFolder(env: NodeJS.ProcessEnv, cwd = process.cwd()): string {
  const project = projectAt(cwd);
  const folderOf = (url: string) =>
    join(ledgerRoot(env), fingerprint(placeOf(url, project?.folder ?? cwd), 12));
  const given = env["PULUMI_BACKEND_URL"];
  if (given) return folderOf(given);
  const ofLogin = folderOf(loggedInBackend(env) ?? "");
  // Earlier versions did not read the project file. What they have left in doubt is still found.
  if (!project?.backend || holdsCreateOf(project.name, ofLogin)) return ofLogin;
  return folderOf(project.backend);
}

/** Returns the ledger folders of all backends in this Pulumi home, or none if the home can't be read. */
export function ledgerFolders(env: NodeJS.ProcessEnv): string[] {
  const root = ledgerRoot(env);
  return attempt(() => readdirSync(root).map((name) => join(root, name))) ?? [];
}

function ledgerRoot(env: NodeJS.ProcessEnv): string {
  return join(pulumiHome(env), "compute", "ledger");
}

/** What a project file says. An empty text is what it does not say. */
interface Project {
  folder: string;
  name: string;
  backend: string;
}

/** A parser of YAML would take longer to load than the rest of the session. */
const namePattern = /^(?:name|\s*"name"):[ \t]*["']?([\w.-]+)/m;
/** A backend has no key but `url`. Comments, quotes and braces are passed over. */
const backendPattern =
  /^(?:backend|\s*"backend"):(?:[\s{]|#.*)*"?url"?:[ \t]*["']?(.*?)["'\s]*(?:\s#.*|\}.*)?$/m;

/** Returns what the project file says that the engine finds: in this folder, or else in the nearest one above it. */
function projectAt(folder: string): Project | undefined {
  for (const end of ["json", "yaml", "yml"]) {
    const text = attempt(() => readFileSync(join(folder, `Pulumi.${end}`), "utf8"));
    if (text === undefined) continue;
    const [name = "", backend = ""] = [namePattern, backendPattern].map(
      (pattern) => pattern.exec(text)?.[1] ?? "",
    );
    return { folder, name, backend };
  }
  const above = dirname(folder);
  return above === folder ? undefined : projectAt(above);
}

/** Whether a folder of the ledger has the file of some resource of the project. */
function holdsCreateOf(project: string, folder: string): boolean {
  const isOfProject = (name: string) =>
    name.endsWith(".json") && readFileSync(join(folder, name), "utf8").includes(`::${project}::`);
  return attempt(() => readdirSync(folder).some(isOfProject)) ?? false;
}

/** Returns the same text for addresses that differ only in a password, a slash at the end or, of files, in the way there. */
function placeOf(url: string, base: string): string {
  const address = withoutPasswords(url);
  const [, path, query = ""] = /^file:\/\/([^?]*)(.*)$/s.exec(address) ?? [];
  return path === undefined ? address.replace(/\/+$/, "") : realFolder(path, base) + query;
}

/**
 * Returns the folder of a file backend without symbolic links. Its path is percent-encoded, and relative to the home after ~, or
 * else to `base`.
 */
function realFolder(path: string, base: string): string {
  const decoded = unescape(path);
  const folder = resolve(
    base,
    decoded.startsWith("~") ? join(userHome(), decoded.slice(2)) : decoded,
  );
  return attempt(() => realpathSync(folder)) ?? folder;
}

/** Returns the backend that `pulumi login` chose, or undefined if the credentials file can't be read. */
function loggedInBackend(env: NodeJS.ProcessEnv): string | undefined {
  const folder = env["PULUMI_CREDENTIALS_PATH"] || pulumiHome(env);
  return attempt(() => {
    const text = readFileSync(join(folder, "credentials.json"), "utf8");
    const { current } = JSON.parse(text) as { current?: unknown };
    return typeof current === "string" ? current : undefined;
  });
}
