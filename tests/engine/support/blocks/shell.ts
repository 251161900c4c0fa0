/**
 * Checks the shell blocks of the documentation. Each command must exist, with its subcommands and flags. Harmless
 * commands also run in a shell, with a stack of their own and the emulator.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import metadata from "../../../../metadata.json";
import rootPackage from "../../../../package.json";
import { pluginRun } from "../../../../provider/advice";
import { executable as pluginName } from "../../../../provider/process/executable";
import { ensureBuilt, installPlugin } from "../../../../tools/build";
import { commandsIn, type Command } from "../../../../tools/docs/commandLines";
import { committedChecksum } from "../../../../tools/dist/archives";
import { codeSpansOf, type Page } from "../../../../tools/docs/markdown";
import { bin as ownBin } from "../../../../tools/sdk/npmPackage";
import { captured } from "../../../../tools/support/command";
import { root } from "../../../../tools/support/paths";
import { tokens } from "../stack";
import { Fixture } from "../fixture";
import { lineOf, type Check } from "./samples";

export const shell: Check = {
  async run(samples, report) {
    const outcomes = new Map<string, Promise<string | undefined>>();
    for (const sample of samples) {
      // languages.test.ts types these blocks.
      if (sample.text.startsWith("repository=")) continue;
      const commands = commandsIn(sample.text);
      const reportAt = (line: number, problem: string | undefined) => {
        if (problem !== undefined) report(sample, `${lineOf(sample, line)}: ${problem}`);
      };
      for (const command of commands) {
        reportAt(command.line, misspelt(command));
        reportAt(command.line, await problemWith(command, sample.block.page));
      }
      const script = commands.filter(isHarmless).map(({ text }) => text);
      const key = script.join("\n");
      const outcome = outcomes.get(key) ?? runScript(script);
      outcomes.set(key, outcome);
      reportAt(0, await outcome);
    }
  },
};

/** Returns the problem of a command that names the executable. Only docs/install.md says where that is. */
function misspelt({ words: [program = ""] }: Command): string | undefined {
  return basename(program) === pluginName ? `${program}: pages write ${pluginRun}` : undefined;
}

/** Returns the words after `pulumi plugin run … --` in a command of the plugin, or undefined for any other command. */
function ownWords(words: readonly string[]): readonly string[] | undefined {
  const start = pluginRun.split(" ");
  return start.every((word, index) => words[index] === word)
    ? words.slice(start.length)
    : undefined;
}

/** Returns the problems of the commands in the running text of a page. Commands without a rule are ignored. */
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

/** Checks a command, and returns its problem. Undefined if it has none. */
export async function problemWith({ words }: Command, page: string): Promise<string | undefined> {
  const [program = "", ...args] = words;
  const rule = rules[basename(program)];
  if (!rule) return `no rule says how to check ${program}: add one to support/blocks/shell.ts`;
  return rule(args, dirname(page));
}

/** The subcommands that a block may run. */
const harmless: Readonly<Record<string, readonly string[] | undefined>> = {
  pulumi: ["config", "stack", "preview", "up", "refresh", "import", "destroy", "about", "version"],
  [pluginRun]: ["audit", "settle", "--help", "--version"],
};

function isHarmless({ words, text }: Command): boolean {
  const own = ownWords(words);
  const [program = "", ...args] = own ? [pluginRun, ...own] : words;
  if (program === "export") return true;
  const subcommands = harmless[basename(program)];
  // Without a plan, `audit` ends with 1 if it finds something.
  if (args[0] === "audit" && !args.includes("--plan")) return false;
  // A command with a placeholder such as <id> can't be run. Addresses and tokens are filled in.
  return subcommands?.includes(args[0] ?? "") === true && !/<\w+>/.test(text);
}

/** Runs the commands of a block, and returns their problem. Undefined if they succeed. */
async function runScript(script: readonly string[]): Promise<string | undefined> {
  if (script.length === 0) return undefined;
  const contains = (pattern: RegExp) => script.some((line) => pattern.test(line));
  await using fixture = await Fixture.create({
    program: join(root, "examples", "instance-yaml"),
    // The fixture leaves out what the block sets, so that the value in the block has to work.
    ...(contains(/compute:baseUrl|COMPUTE_BASE_URL/) ? { baseUrl: undefined } : {}),
    ...(contains(/compute:apiToken|COMPUTE_API_TOKEN/) ? { token: null } : {}),
  });
  const { stack, service } = fixture;
  installPlugin(stack.home);
  fixture.control.insert({ id: "i-123", name: "web" });
  if (contains(/^pulumi stack init/)) await stack.succeed("stack", "rm", "--yes", "dev");
  stack.setEnv("ASKED_FOR", tokens.test);
  const lines = script.map((line) => filledIn(line, service.url));
  // If the block only sets something, a preview is added, which shows whether the setting works.
  const hasPreview = contains(/^pulumi (preview|up)\b/);
  if (contains(/^(export|pulumi config) /) && !hasPreview) lines.push("pulumi preview");
  return await stack.type(["set -e", ...lines].join("\n")).then(() => undefined, String);
}

/** Replaces the placeholders of a command: the address of the service, and the token. The backend is that of the fixture. */
export function filledIn(line: string, url: string): string {
  const filled = line
    .replace(/https:\/\/…\/v2\/?|http:\/\/127\.0\.0\.1:8420\/v2/, url)
    .replace(/(_TOKEN=)…/, "$1$ASKED_FOR")
    .replace(/(?:export )?PULUMI_BACKEND_URL=file:\/\/~ ?/, "");
  // This command reads the value from stdin.
  return /config set --secret \S+$/.test(filled) ? `printf %s "$ASKED_FOR" | ${filled}` : filled;
}

/** Checks the arguments of a program in the folder of the page, and returns the problem. */
type Rule = (args: readonly string[], folder: string) => Promise<string | undefined>;

const pass: Rule = async () => undefined;
const commonPrograms = [
  ...[
    "cat",
    "cd",
    "cp",
    "curl",
    "exit",
    "export",
    "git",
    "grep",
    "mkdir",
    "python3",
    "sha256sum",
    "tar",
  ],
  "test",
];

const rules: Readonly<Record<string, Rule>> = {
  npm: async ([command = "", ...args], folder) => {
    if (command === "run") return missingScript(args[0]);
    if (["start", "test"].includes(command)) return missingScript(command);
    if (["install", "i"].includes(command)) {
      return packageProblem(args, folder, [metadata.sdk.nodejs.package]);
    }
    return undefined;
  },
  npx: async ([command = "", ...args]) => {
    if (command in ownBin) return pluginProblem(args);
    const there = existsSync(join(root, "node_modules", ".bin", command));
    return there || command === "pulumi" ? undefined : `npx finds no ${command}`;
  },
  pulumi: pulumiProblem,
  [pluginName]: pluginProblem,
  go: async ([command, ...args]) =>
    command === "get" ? packageProblem(args, root, [metadata.sdk.go.package]) : undefined,
  pip: async ([command, ...args], folder) => {
    if (command !== "install") return `pip ${command ?? ""}: add a rule for it`;
    return packageProblem(args, folder, [metadata.sdk.python.package]);
  },
  node: async ([script = ""], folder) =>
    // The code to evaluate is not checked, nor are the tests that Node finds by itself.
    ["-e", "-p", "--test"].includes(script) ? undefined : missingPath(script, folder),
  exec: async ([program = "", ...args], folder) => {
    const rule = rules[basename(program)];
    return rule ? rule(args, folder) : `no rule says how to check ${program}`;
  },
  // Dotnet and mvn may be missing on this machine, so they are not run.
  dotnet: async ([command, ...args], folder) => {
    if (command === "add" && args[0] === "package") {
      return packageProblem(args.slice(1), folder, [metadata.sdk.dotnet.package]);
    }
    if (command === "pack") return missingPath(args[0] ?? ".", folder);
    return command === "restore" ? undefined : `dotnet ${command ?? ""}: add a rule for it`;
  },
  mvn: async (args, folder) => {
    const file = args.indexOf("--file");
    return file < 0 ? undefined : missingPath(args[file + 1] ?? "", folder);
  },
  // The file is made by an earlier command of the block.
  ".": pass,
  // These have no arguments that belong to this project.
  ...Object.fromEntries(commonPrograms.map((program) => [program, pass])),
};

const missingScript = (name = "") =>
  name in rootPackage.scripts ? undefined : `package.json has no script ${name}`;

const missingPath = (path: string, folder: string) =>
  existsSync(join(root, folder, path)) ? undefined : `there is no ${join(folder, path)}`;

/** Returns the problem of a command that installs packages. Each must be one of `names`, or an existing path. */
function packageProblem(
  args: readonly string[],
  folder: string,
  names: readonly string[],
): string | undefined {
  const packages = args.filter((word) => !word.startsWith("-"));
  const known = (word: string) =>
    names.some((name) => word === name || word.startsWith(`${name}@`));
  const unknown = packages.find((word) => !known(word) && missingPath(word, folder) !== undefined);
  return unknown === undefined
    ? undefined
    : `${unknown}: neither a package of this project nor a path`;
}

/** The help of each `pulumi` command, by the path of its subcommands. */
const helps = new Map<string, Promise<string>>();

function helpOf(path: readonly string[]): Promise<string> {
  const key = path.join(" ");
  const env = { PATH: process.env["COMPUTE_TEST_PATH"], HOME: "/nonexistent" };
  const pulumi = process.env["COMPUTE_TEST_PULUMI"] ?? "pulumi";
  const help = helps.get(key) ?? captured(pulumi, [...path, "--help"], { env });
  helps.set(key, help);
  return help;
}

/** Returns the problem of a `pulumi` command. Each subcommand and flag must be in the help of the CLI. */
async function pulumiProblem(words: readonly string[]): Promise<string | undefined> {
  const own = ownWords(["pulumi", ...words]);
  if (own) return pluginProblem(own);
  if (/^plugin run ./.test(words.join(" "))) return `write ${pluginRun}`;
  // `-C` is the only flag with a value before the subcommand.
  const args = words[0] === "-C" ? words.slice(2) : words;
  const path: string[] = [];
  let help = await helpOf(path);
  for (const word of args) {
    const subcommands = new Set(
      [...help.matchAll(/^ {2}([a-z][\w-]*) {2,}\S/gm)].map(([, name]) => name),
    );
    if (word.startsWith("-") || subcommands.size === 0) break;
    if (!subcommands.has(word) && !(await isAlias([...path, word]))) {
      // If the group is also a command, this word is its argument.
      if (path.length > 0 && /^ {2}pulumi .*\[flags\]$/m.test(help)) break;
      return `there is no pulumi ${[...path, word].join(" ")}`;
    }
    path.push(word);
    if (word === "do") return doProblem(args.slice(1));
    help = await helpOf(path);
  }
  const problem = flagProblem(path, args, help);
  if (problem !== undefined) return problem;
  return path.join(" ") === "plugin install" ? pluginInstallProblem(args.slice(2)) : undefined;
}

/** Whether the last word is another name of a command, as `delete` is of `pulumi state remove`. */
async function isAlias(path: readonly string[]): Promise<boolean> {
  const [, aliases = ""] = /^Aliases:\n(.*)$/m.exec(await helpOf(path)) ?? [];
  return aliases.split(",").some((alias) => alias.trim() === path.at(-1));
}

/** Returns the problem of a `pulumi do` command with a resource type or function. Its help is made from the schema. */
async function doProblem([schemaToken = "", ...args]: readonly string[]): Promise<
  string | undefined
> {
  if (!schemaToken.includes(":")) return undefined;
  const subcommand = args.filter((word) => !word.startsWith("-")).slice(0, 1);
  const mode = args.filter((word) => word === "--stateless");
  const path = ["do", "--package", await ensureBuilt(), schemaToken, ...subcommand, ...mode];
  return flagProblem(path, args, await helpOf(path));
}

/** Returns the problem of a command with a flag that its help lacks. */
function flagProblem(
  path: readonly string[],
  args: readonly string[],
  help: string,
): string | undefined {
  const flags = args
    .filter((word) => /^--?[a-z]/.test(word))
    .map((word) => word.split("=")[0] ?? "");
  const known = new Set(help.match(/(?<=[\s,])--?[A-Za-z][\w-]*/g) ?? []);
  // A short flag may be followed directly by its value.
  const unknown = flags.find(
    (flag) => !known.has(flag) && (flag.startsWith("--") || !known.has(flag.slice(0, 2))),
  );
  return unknown === undefined ? undefined : `pulumi ${path.join(" ")} has no ${unknown}`;
}

/** Returns the problem of a command of the plugin, whose help must have the command and its flags. */
async function pluginProblem([command, ...args]: readonly string[]): Promise<string | undefined> {
  if (command === undefined || command === "--help") return undefined;
  const plugin = await ensureBuilt();
  const helpOfPlugin = (...words: string[]) => captured(plugin, [...words, "--help"]);
  if (!new RegExp(`^ {2}${command} `, "m").test(await helpOfPlugin()))
    return `--help has no ${command}`;
  const flags = args.filter((word) => word.startsWith("-")).map((word) => word.split("=")[0]);
  if (flags.length === 0) return undefined;
  const known = new Set((await helpOfPlugin(command)).match(/--[a-z-]+/g));
  const unknown = flags.find((flag = "") => !known.has(flag));
  return unknown === undefined ? undefined : `${command} has no ${unknown}`;
}

/** Returns the problem of `pulumi plugin install`. It must install this plugin in this version. */
function pluginInstallProblem(args: readonly string[]): string | undefined {
  const { name, version, pluginDownloadURL } = metadata;
  const [kind, plugin, given] = args;
  const valueOf = (flag: string) =>
    args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;
  const [server, checksum] = [valueOf("--server"), valueOf("--checksum")];
  if (kind !== "resource" || plugin !== name) return `not the plugin ${name}`;
  if (isGiven(given) && given.replace(/^v/, "") !== version) return `the version is ${version}`;
  if (isGiven(server) && server !== pluginDownloadURL)
    return `the plugin is at ${pluginDownloadURL}`;
  if (isGiven(checksum) && committedChecksum("linux-amd64") !== checksum)
    return "tools/dist/SHA256SUMS has another checksum";
  return undefined;
}

/** Whether the argument has a value. A word in capitals is a placeholder for the reader. */
function isGiven(value: string | undefined): value is string {
  return value !== undefined && !value.startsWith("-") && !/^[A-Z.]+$/.test(value);
}
