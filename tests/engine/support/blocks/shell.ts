/**
 * Shell blocks: each command is one that there is, with the subcommands and flags that it has; and what
 * does no harm is typed for real, into a shell beside a stack of its own and the emulator.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import metadata from "../../../../metadata.json";
import rootPackage from "../../../../package.json";
import { executable as pluginName } from "../../../../provider/executable";
import { ensureBuilt } from "../../../../tools/build";
import { commandsIn, type Command } from "../../../../tools/docs/commandLines";
import { codeSpansOf, type Page } from "../../../../tools/docs/markdown";
import { bin as ownBin } from "../../../../tools/sdk/npmPackage";
import { captured } from "../../../../tools/support/command";
import { root } from "../../../../tools/support/paths";
import { tokens } from "../stack";
import { Fixture } from "../fixture";
import { lineOf, type Check } from "./samples";

export const shell: Check = {
  async run(samples, report) {
    const typed = new Map<string, Promise<string | undefined>>();
    for (const sample of samples) {
      const commands = commandsIn(sample.text);
      for (const command of commands) {
        const problem = misspelt(command) ?? (await problemWith(command, sample.block.page));
        if (problem !== undefined) report(sample, `${lineOf(sample, command.line)}: ${problem}`);
      }
      const script = commands.filter(isHarmless).map(({ text }) => text);
      if (script.length === 0) continue;
      const key = script.join("\n");
      const outcome = typed.get(key) ?? type(script);
      typed.set(key, outcome);
      const problem = await outcome;
      if (problem !== undefined) report(sample, `${lineOf(sample, 0)}: ${problem}`);
    }
  },
};

/** The pages have one spelling of the plugin's commands; docs/install.md says where the executable is. */
function misspelt({ words: [program = ""] }: Command): string | undefined {
  const isPlugin = basename(program) === pluginName && program !== pluginName;
  return isPlugin ? `${program}: pages write ${pluginName}` : undefined;
}

/** What is wrong with the commands in a page's running text, as far as it is a command that we know. */
export async function problemsInText(page: Page): Promise<string[]> {
  const problems: string[] = [];
  for (const { line, text } of codeSpansOf(page)) {
    for (const command of commandsIn(text)) {
      const [program = "", ...args] = command.words;
      if (!Object.hasOwn(rules, program) || args.length === 0) continue;
      const problem = await problemWith(command, page.name);
      if (problem !== undefined) problems.push(`${page.name}:${line}: \`${text}\`: ${problem}`);
    }
  }
  return problems;
}

/** What is wrong with one of them. */
export async function problemWith({ words }: Command, page: string): Promise<string | undefined> {
  const [program = "", ...args] = words;
  const rule = rules[basename(program)];
  if (!rule) return `no rule says how to check ${program}: add one to support/blocks/shell.ts`;
  return rule(args, dirname(page));
}

const harmless: Readonly<Record<string, readonly string[] | undefined>> = {
  pulumi: ["config", "stack", "preview", "up", "refresh", "import", "destroy", "about", "version"],
  "pulumi-resource-compute": ["discard", "import-plan", "--help", "--version"],
};

function isHarmless({ words: [program = "", ...args], text }: Command): boolean {
  if (program === "export") return true;
  const subcommands = harmless[basename(program)];
  // What a person is to fill in, we can't know; but for an address and a token.
  return subcommands?.includes(args[0] ?? "") === true && !/<\w+>/.test(text);
}

/** Gives what went wrong. */
async function type(script: readonly string[]): Promise<string | undefined> {
  const says = (words: RegExp) => script.some((line) => words.test(line));
  await using fixture = await Fixture.create({
    program: join(root, "examples", "instance-yaml"),
    // What the block itself sets must do.
    ...(says(/compute:baseUrl|COMPUTE_BASE_URL/) ? { baseUrl: undefined } : {}),
    ...(says(/compute:apiToken|COMPUTE_API_TOKEN/) ? { token: null } : {}),
  });
  const { stack, service } = fixture;
  service.control.insert({ id: "i-123", name: "web" });
  if (says(/^pulumi stack init/)) await stack.succeed("stack", "rm", "--yes", "dev");
  stack.setEnv("ASKED_FOR", tokens.test);
  const lines = script.map((line) => {
    const filled = line
      .replace(/https:\/\/…\/v2\/?/, service.url)
      .replace(/(_TOKEN=)…/, "$1$ASKED_FOR")
      .replace(/^(?=pulumi-resource-compute\b)/, `${join(root, "bin")}/`);
    // It asks for the value.
    return /config set --secret \S+$/.test(filled) ? `printf %s "$ASKED_FOR" | ${filled}` : filled;
  });
  // Whether what was set is any good, where the block itself does not come to that.
  const isTried = says(/^pulumi (preview|up)\b/);
  if (says(/^(export|pulumi config) /) && !isTried) lines.push("pulumi preview");
  const { code, output } = await stack.type(["set -e", ...lines].join("\n"));
  return code === 0 ? undefined : `typed, it ended with ${code}:\n${lines.join("\n")}\n${output}`;
}

/** Checks a command of one program: takes its arguments and the page's folder, and returns what is wrong. */
type Rule = (args: readonly string[], folder: string) => Promise<string | undefined>;

const pass: Rule = async () => undefined;
const commonPrograms = [
  ...["cat", "cd", "cp", "curl", "exit", "export", "git", "mkdir", "python3", "sha256sum", "tar"],
  "test",
];

const rules: Readonly<Record<string, Rule>> = {
  npm: async ([command = "", ...args], folder) => {
    if (command === "run") return missingScript(args[0]);
    if (["start", "test"].includes(command)) return missingScript(command);
    if (["install", "i"].includes(command)) {
      const { package: name } = metadata.sdk.nodejs;
      return strangePackage(args, folder, [name, `./${name}-${metadata.version}.tgz`]);
    }
    return undefined;
  },
  npx: async ([command = "", ...args]) => {
    if (command in ownBin) return pluginProblem(args);
    const there = existsSync(join(root, "node_modules", ".bin", command));
    return there || command === "pulumi" ? undefined : `npx finds no ${command}`;
  },
  pulumi: pulumiProblem,
  "pulumi-resource-compute": pluginProblem,
  go: async ([command, ...args]) =>
    command === "get" ? strangePackage(args, root, [metadata.sdk.go.module]) : undefined,
  pip: async ([command, ...args], folder) => {
    if (command !== "install") return `pip ${command ?? ""}: add a rule for it`;
    const { package: name } = metadata.sdk.python;
    return strangePackage(args, folder, [name, `./${name}-${metadata.version}-py3-none-any.whl`]);
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
  ...Object.fromEntries(commonPrograms.map((program) => [program, pass])),
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
