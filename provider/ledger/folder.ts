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
  const { folder = cwd, backend } = projectAt(cwd) ?? {};
  const url = env["PULUMI_BACKEND_URL"] || backend || loggedInBackend(env) || "";
  return join(ledgerRoot(env), fingerprint(placeOf(url, folder), 12));
}

/** Returns the ledger folders of all backends in this Pulumi home, or none if the home can't be read. */
export function ledgerFolders(env: NodeJS.ProcessEnv): string[] {
  const root = ledgerRoot(env);
  return attempt(() => readdirSync(root).map((name) => join(root, name))) ?? [];
}

function ledgerRoot(env: NodeJS.ProcessEnv): string {
  return join(pulumiHome(env), "compute", "ledger");
}

/** What a project file says. */
interface Project {
  folder: string;
  backend: string | undefined;
}

/**
 * A backend has no key but `url`. Comments, quotes and braces are passed over. A parser of YAML would take longer to load than the
 * rest of the session.
 */
const backendPattern =
  /^(?:backend|\s*"backend"):(?:[\s{]|#.*$)*"?url"?:[ \t]*["']?(.*?)["'\s]*(?:\s#.*|\}.*)?$/m;

/** Returns what the project file says that the engine finds: in this folder, or else in the nearest one above it. */
function projectAt(folder: string): Project | undefined {
  for (const end of ["json", "yaml", "yml"]) {
    const text = attempt(() => readFileSync(join(folder, `Pulumi.${end}`), "utf8"));
    if (text !== undefined) return { folder, backend: backendPattern.exec(text)?.[1] };
  }
  const above = dirname(folder);
  return above === folder ? undefined : projectAt(above);
}

/** Returns the same text for addresses that differ only in a password, a slash at the end or, of files, in the way there. */
function placeOf(url: string, base: string): string {
  const address = withoutPasswords(url);
  const [, path, query = ""] = /^file:\/\/([^?]*)(.*)$/s.exec(address) ?? [];
  return path === undefined ? address.replace(/(?<!\/)\/+$/, "") : realFolder(path, base) + query;
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
