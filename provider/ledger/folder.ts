/** Finds the folders of the ledger of creates in doubt: in the Pulumi home, one for each state backend. */
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { withoutPasswords } from "../addresses";
import { fingerprint } from "../fingerprint";
import { pulumiHome, userHome } from "../pulumiHome";

/**
 * The options in a backend's address that say where the states are, as gocloud.dev and the engine's PostgreSQL driver name
 * them. The others, such as `no_tmp_dir`, `s3ForcePathStyle` or `sslmode`, only say how to get there. So does `region`: the name
 * of a bucket is unique without it.
 */
const placeOptions = [
  ...["prefix", "endpoint", "storage_account", "domain", "localemu", "universe_domain"],
  ...["table", "host", "port", "dbname", "user", "options", "search_path"],
];

/**
 * Returns the ledger's folder for this run's backend, since two backends may have stacks with the same URNs. The folder's
 * name is a hash of the place of the states, so another spelling of its address, or a new password, does not change the folder.
 */
export function ledgerFolder(env: NodeJS.ProcessEnv): string {
  return join(ledgerRoot(env), fingerprint(placeOf(backendUrl(env)), 12));
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
  return env["PULUMI_BACKEND_URL"] || loggedInBackend(env) || "";
}

/** Returns the same text for all addresses of one backend, without a password. */
function placeOf(url: string): string {
  const [address = "", query = ""] = withoutPasswords(url).split(/\?(.*)/s);
  const options = new URLSearchParams(query);
  const named = placeOptions.filter((name) => options.get(name));
  const place = named.map((name) => `?${name}=${options.get(name)}`).join("");
  const [, path] = /^file:\/\/(.+)$/s.exec(address) ?? [];
  return (path === undefined ? address.replace(/\/+$/, "") : realFolder(path)) + place;
}

/** Returns the folder of a file backend without symbolic links. Its path is relative to the project, or to the home after ~. */
function realFolder(path: string): string {
  const folder = resolve(path.startsWith("~") ? join(userHome(), path.slice(2)) : path);
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
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
