/**
 * Shell blocks: each command is one that there is, with the subcommands and flags that it has; and what
 * does no harm is typed for real, into a shell beside a stack of its own and the emulator.
 */
import { basename, dirname, join } from "node:path";
import { commandsIn, type Command } from "../../../../tools/docs/commandLines";
import { codeSpansOf, type Page } from "../../../../tools/docs/markdown";
import { executable as pluginName } from "../../../../provider/executable";
import { root } from "../../../../tools/support/paths";
import { tokens } from "../stack";
import { World } from "../world";
import { rules } from "./commandRules";
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
  if (!rule) return `no rule says how to check ${program}: add one to commandRules.ts`;
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
  await using world = await World.create({
    program: join(root, "examples", "instance-yaml"),
    // What the block itself sets must do.
    ...(says(/compute:baseUrl|COMPUTE_BASE_URL/) ? { baseUrl: undefined } : {}),
    ...(says(/compute:apiToken|COMPUTE_API_TOKEN/) ? { token: null } : {}),
  });
  const { stack, service } = world;
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
