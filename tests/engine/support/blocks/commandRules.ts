/** What makes a command line on a page a good one, by its program. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import metadata from "../../../../metadata.json";
import rootPackage from "../../../../package.json";
import { captured } from "../../../../tools/support/command";
import { root } from "../../../../tools/support/paths";
import { bin as ownBin } from "../../../../tools/sdk/npmPackage";
import { ensureBuilt } from "../../../../tools/build";

/** Gets the words behind the program and the page's folder; gives what is wrong. */
type Rule = (args: readonly string[], folder: string) => Promise<string | undefined>;

const pass: Rule = async () => undefined;

export const rules: Readonly<Record<string, Rule>> = {
  npm: async ([command = "", ...args], folder) => {
    if (command === "run") return missingScript(args[0]);
    if (["start", "test"].includes(command)) return missingScript(command);
    if (["install", "i"].includes(command)) {
      const { package: name } = metadata.sdk.nodejs;
      return strangePackage(args, folder, [name, `./${name}-${metadata.version}.tgz`]);
    }
    const help = await captured("npm", [command, "--help"]).catch(() => undefined);
    return help === undefined ? `there is no npm ${command}` : undefined;
  },
  npx: async ([command = "", ...args]) => {
    if (command in ownBin) return pluginProblem(args);
    const there = existsSync(join(root, "node_modules", ".bin", command));
    return there || command === "pulumi" ? undefined : `npx finds no ${command}`;
  },
  pulumi: pulumiProblem,
  "pulumi-resource-compute": pluginProblem,
  go: async ([command = "", ...args]) => {
    if (command === "get") return strangePackage(args, root, [metadata.sdk.go.module]);
    const words = [command, ...args.slice(0, command === "mod" ? 1 : 0)];
    const help = await captured("go", ["help", ...words]).catch(() => undefined);
    if (help === undefined) return `there is no go ${words.join(" ")}`;
    const strange = args.filter((word) => word.startsWith("-")).find((it) => !help.includes(it));
    return strange === undefined ? undefined : `go ${words.join(" ")} has no ${strange}`;
  },
  pip: async ([command, ...args], folder) => {
    if (command !== "install") return `pip ${command ?? ""}: add a rule for it`;
    const { package: name } = metadata.sdk.python;
    return strangePackage(args, folder, [name, `./${name}-${metadata.version}-py3-none-any.whl`]);
  },
  python3: async ([flag, module = ""]) => {
    if (flag !== "-m") return "python3: only -m MODULE has a rule";
    const help = await captured("python3", ["-m", module, "--help"]).catch(() => undefined);
    return help === undefined ? `python3 has no module ${module}` : undefined;
  },
  node: async ([script = ""], folder) =>
    // What it is to evaluate, nobody here looks at.
    ["-e", "-p"].includes(script) ? undefined : missingPath(script, folder),
  exec: async ([program = "", ...args], folder) => {
    const rule = rules[basename(program)];
    return rule ? rule(args, folder) : `no rule says how to check ${program}`;
  },
  // Neither is sure to be on this machine.
  dotnet: async ([command, ...args], folder) => {
    if (command === "add" && args[0] === "package") {
      return strangePackage(args.slice(1), folder, [metadata.sdk.dotnet.package]);
    }
    if (command === "pack") return missingPath(args[0] ?? ".", folder);
    return command === "restore" ? undefined : `dotnet ${command ?? ""}: add a rule for it`;
  },
  mvn: async (args, folder) => {
    const file = args.indexOf("--file");
    return file < 0 ? undefined : missingPath(args[file + 1] ?? "", folder);
  },
  // A file made by a command before it.
  ".": pass,
  // Nothing of ours is in these.
  ...{
    cat: pass,
    cd: pass,
    cp: pass,
    curl: pass,
    exit: pass,
    export: pass,
    git: pass,
    mkdir: pass,
    sha256sum: pass,
    tar: pass,
    test: pass,
  },
};

function missingScript(name = ""): string | undefined {
  return name in rootPackage.scripts ? undefined : `package.json has no script ${name}`;
}

function missingPath(path: string, folder: string): string | undefined {
  return existsSync(join(root, folder, path)) ? undefined : `there is no ${join(folder, path)}`;
}

/** Packages to install: ours by name or as the file that is packed, or what lies here. */
function strangePackage(
  args: readonly string[],
  folder: string,
  names: readonly string[],
): string | undefined {
  const packages = args.filter((word) => !word.startsWith("-"));
  const known = (word: string) =>
    names.some((name) => word === name || word.startsWith(`${name}@`));
  const strange = packages.find((word) => !known(word) && missingPath(word, folder) !== undefined);
  return strange === undefined ? undefined : `${strange}: neither a package of ours nor a path`;
}

const helps = new Map<string, Promise<string>>();

function helpOf(path: readonly string[]): Promise<string> {
  const key = path.join(" ");
  const env = { PATH: process.env["COMPUTE_TEST_PATH"], HOME: "/nonexistent" };
  const pulumi = process.env["COMPUTE_TEST_PULUMI"] ?? "pulumi";
  const help = helps.get(key) ?? captured(pulumi, [...path, "--help"], { env });
  helps.set(key, help);
  return help;
}

/** Each subcommand and each flag is one that the CLI's own help has. */
async function pulumiProblem(words: readonly string[]): Promise<string | undefined> {
  // The one flag that stands before a subcommand, and has a value.
  const args = words[0] === "-C" ? words.slice(2) : words;
  const path: string[] = [];
  let help = await helpOf(path);
  for (const word of args) {
    const subcommands = new Set(
      [...help.matchAll(/^ {2}([a-z][\w-]*) {2,}\S/gm)].map(([, it]) => it),
    );
    if (word.startsWith("-") || subcommands.size === 0) break;
    if (!subcommands.has(word)) {
      // A group that is a command as well takes what is no subcommand as its argument.
      if (path.length > 0 && /^ {2}pulumi .*\[flags\]$/m.test(help)) break;
      return `there is no pulumi ${[...path, word].join(" ")}`;
    }
    path.push(word);
    help = await helpOf(path);
  }
  const flags = args
    .filter((word) => /^--?[a-z]/.test(word))
    .map((word) => word.split("=")[0] ?? "");
  const known = new Set(help.match(/(?<=[\s,])--?[A-Za-z][\w-]*/g) ?? []);
  // A short flag may have its value right behind it.
  const strange = flags.find(
    (flag) => !known.has(flag) && (flag.startsWith("--") || !known.has(flag.slice(0, 2))),
  );
  if (strange !== undefined) return `pulumi ${path.join(" ")} has no ${strange}`;
  return path.join(" ") === "plugin install" ? strangePlugin(args.slice(2)) : undefined;
}

/** The command is one that the plugin's own help has, and each flag one that the command's has. */
async function pluginProblem([command, ...args]: readonly string[]): Promise<string | undefined> {
  if (command === undefined || command === "--help") return undefined;
  const plugin = await ensureBuilt();
  const lists = async (...words: string[]) => {
    const help = await captured(plugin, [...words, "--help"]);
    return [...help.matchAll(/^ {2}(?:pulumi-resource-compute )?(\S+)/gm)].map(([, it]) => it);
  };
  if (!(await lists()).includes(command)) return `--help has no ${command}`;
  const flags = args.filter((word) => word.startsWith("-")).map((word) => word.split("=")[0]);
  if (flags.length === 0) return undefined;
  const known = ["--help", ...(await lists(command))];
  const strange = flags.find((flag) => !known.includes(flag));
  return strange === undefined ? undefined : `${command} has no ${strange}`;
}

/** The plugin that is to be installed is this one. */
function strangePlugin(args: readonly string[]): string | undefined {
  const { name, version, pluginDownloadURL } = metadata;
  const [kind, plugin, given] = args;
  const server = args.includes("--server") ? args[args.indexOf("--server") + 1] : undefined;
  if (kind !== "resource" || plugin !== name) return `not the plugin ${name}`;
  if (isGiven(given) && given.replace(/^v/, "") !== version) return `the version is ${version}`;
  if (isGiven(server) && server !== pluginDownloadURL)
    return `the plugin is at ${pluginDownloadURL}`;
  return undefined;
}

/** Neither left out nor, in capitals, for the reader to fill in. */
function isGiven(value: string | undefined): value is string {
  return value !== undefined && !value.startsWith("-") && !/^[A-Z.]+$/.test(value);
}
