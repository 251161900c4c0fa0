/** What lies on this machine: the plugin, the engine, other plugins, the ledger. */
import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import metadata from "../../../metadata.json";
import { ownCommand } from "../../advice";
import { ledgerFolder, pulumiHome } from "../../ledger/folder";
import { isOlder, oldestEngine } from "../../versions";
import { type Finding, ok, warning, failed } from "../finding";
import { openCreates } from "../openCreates";
import { pulumi } from "../pulumi/cli";

export async function* examineMachine(env: NodeJS.ProcessEnv): AsyncGenerator<Finding> {
  const { name, version } = metadata;
  yield ok(
    "plugin",
    `${name} ${version}, on Node ${process.version} (${process.platform} ${process.arch})`,
  );
  yield await engine(env);
  yield installed(env);
  yield* ledger(env);
}

async function engine(env: NodeJS.ProcessEnv): Promise<Finding> {
  const install = `Install Pulumi ${oldestEngine} or later: https://www.pulumi.com/docs/install/`;
  const said = await pulumi(["version"], env);
  if (!said.ok) {
    // A program of the Automation API may well bring its own.
    return said.missing
      ? warning("engine", said.why, install)
      : failed("engine", said.why, install);
  }
  const version = /^v?(\d+\.\d+\.\d+)/.exec(said.stdout.trim())?.[1];
  if (version === undefined) {
    return warning("engine", "`pulumi version` gave no version", install);
  }
  if (isOlder(version, oldestEngine)) {
    return failed("engine", `Pulumi ${version}, older than ${oldestEngine}`, install);
  }
  return ok("engine", `Pulumi ${version}`);
}

/** Of the plugins in the Pulumi home, the engine takes the one that a program's SDK asks for. */
function installed(env: NodeJS.ProcessEnv): Finding {
  const versions = foldersOf(join(pulumiHome(env), "plugins")).flatMap(
    (name) =>
      new RegExp(`^resource-${metadata.name}-v(\\d+\\.\\d+\\.[\\w.+-]+)$`).exec(name)?.[1] ?? [],
  );
  const others = versions.filter((version) => version !== metadata.version).sort();
  if (others.length === 0) {
    return ok(
      "plugins",
      versions.length > 0 ? "this version alone is installed" : "none installed",
    );
  }
  const remove = others.map((it) => `pulumi plugin rm resource ${metadata.name} ${it}`);
  return warning(
    "plugins",
    `other versions are installed too: ${others.join(", ")}`,
    `A program uses the one that its SDK asks for. To remove: ${remove.join("; ")}`,
  );
}

function foldersOf(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

function* ledger(env: NodeJS.ProcessEnv): Generator<Finding> {
  const folder = ledgerFolder(env);
  const problem = unwritable(folder);
  if (problem) {
    yield warning(
      "ledger",
      `${folder} can't be written (${problem})`,
      "Make it writable, or set PULUMI_HOME: should a run be killed while it creates an instance, the next one will not know of it.",
    );
    return;
  }
  const complaints: string[] = [];
  const all = openCreates(env, (text) => complaints.push(text));
  const open = all.filter(({ isHere }) => isHere).length;
  const elsewhere = all.length - open;
  const list = `\`${ownCommand("discard")}\` lists them`;
  if (open > 0) {
    yield warning(
      "ledger",
      `${open} ${open === 1 ? "create is" : "creates are"} left open in it`,
      `Run \`pulumi up\`, which goes on with them or says what to do; ${list}.`,
    );
  } else if (complaints.length > 0) {
    yield warning("ledger", complaints.join("; "), `Look at ${folder}.`);
  } else {
    const others = elsewhere > 0 ? `; ${elsewhere} with another state backend (${list})` : "";
    yield ok("ledger", `${folder}: no create is left open${others}`);
  }
}

/** Tried without writing: the folder itself, or the nearest that would hold it. */
function unwritable(folder: string): string | undefined {
  if (!existsSync(folder) && dirname(folder) !== folder) return unwritable(dirname(folder));
  try {
    if (!statSync(folder).isDirectory()) return `${folder} is no folder`;
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}
