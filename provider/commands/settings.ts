/** The settings of a command: from its options, from a stack's configuration, from the environment. */
import { type Command, Option } from "commander";
import { checkConfig, resolveSettings } from "../config/configuration";
import { hideToken } from "../config/hideToken";
import {
  secretSettings,
  settingDescriptions,
  settingEnvironment,
  settingNames,
  type SettingName,
  type Settings,
} from "../config/settings";
import { OperationFailed } from "../errors";
import { propertyMap, reveal, type PropertyMap } from "../property/value";
import { failed, type Finding, ok } from "./finding";
import { readConfig } from "./pulumi";
import { count, type Terminal } from "./terminal";

export const stackHelp =
  "Read the settings of this stack of the Pulumi project here, the token among them. What is given below wins over it.";

/** Commander gives the values under the names of the settings: `--base-url` as `baseUrl`. */
export type SettingOptions = Partial<Record<SettingName, string>>;

const optionOf = (name: SettingName) =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The token is no option: any program of the machine can read those. */
const optionNames = settingNames.filter((name) => !secretSettings.has(name));

/** Those of `unused` change nothing for the command: it takes them, and its help leaves them out. */
export function addSettingOptions(command: Command, unused: readonly SettingName[] = []): Command {
  for (const name of optionNames) {
    const description = settingDescriptions[name].replaceAll("`", "");
    const option = new Option(`${optionOf(name)} <value>`, description);
    command.addOption(option.hideHelp(unused.includes(name)));
  }
  return command;
}

/** @throws OperationFailed with all that is wrong with them. */
export async function settingsFor(
  stack: string | undefined,
  options: SettingOptions,
  io: Terminal,
): Promise<Settings> {
  const { findings, settings } = await examineSettings(stack, options, io);
  if (settings) return settings;
  const wrong = findings.filter(({ result }) => result === "FAILED");
  throw new OperationFailed(
    wrong.flatMap(({ check, found, next }) => [`${check}: ${found}`, `→ ${next}`]),
  );
}

/** Judges the settings as Configure does, and says where each comes from; gives them where all is well. */
export async function examineSettings(
  stack: string | undefined,
  options: SettingOptions,
  io: Terminal,
): Promise<{ findings: Finding[]; settings?: Settings }> {
  const { env } = io;
  const findings: Finding[] = [];
  let ofStack: PropertyMap = {};
  if (stack !== undefined) {
    const read = await readConfig(stack, env);
    if ("problem" in read) {
      const next =
        "Run it in the folder of the Pulumi project; `pulumi stack ls` lists its stacks.";
      return { findings: [failed("stack", read.problem, next)] };
    }
    ofStack = read.config;
    const number = Object.keys(ofStack).length;
    findings.push(ok("stack", `${stack}: ${count(number, "setting")} of compute`));
  }
  hideToken(io, ofStack);

  const given = propertyMap(Object.fromEntries(optionNames.map((name) => [name, options[name]])));
  const args = propertyMap({ ...ofStack, ...given });
  const variableOf = (name: string) => settingEnvironment[name as SettingName];
  const isGiven = (name: SettingName) =>
    reveal(args[name] ?? null) !== null || Boolean(env[variableOf(name) ?? ""]);
  const sourceOf = (name: string) => {
    if (Object.hasOwn(given, name)) return optionOf(name as SettingName);
    const variable = Object.hasOwn(ofStack, name) ? undefined : variableOf(name);
    return variable ?? `compute:${name}`;
  };

  const problems = { "base URL": [] as string[], token: [] as string[], settings: [] as string[] };
  const checkOf = (name: string) =>
    name === "baseUrl" ? "base URL" : name === "apiToken" ? "token" : "settings";
  for (const { property, reason } of checkConfig(args, env).failures) {
    // A secret is named in the reason only.
    const name = property || /^compute:(\w+)/.exec(reason)?.[1] || "";
    const words = reason.replace(`compute:${name} `, "");
    const source = sourceOf(name);
    problems[checkOf(name)].push(words.startsWith(source) ? words : `${source}: ${words}`);
  }
  const places = `${variableOf("apiToken")}, a stack's configuration (--stack NAME)`;
  if (!isGiven("apiToken")) problems.token.push(`not given: looked for in ${places}`);
  const more = `${optionOf("baseUrl")}, ${variableOf("baseUrl")}, a stack's configuration (--stack NAME)`;
  if (!isGiven("baseUrl")) problems["base URL"].push(`not given: looked for in ${more}`);

  const isGood = Object.values(problems).every((reasons) => reasons.length === 0);
  const settings = isGood ? resolveSettings(args, env) : undefined;
  const add = (check: keyof typeof problems, found: string, next: string) => {
    const wrong = problems[check].join("; ");
    findings.push(wrong ? failed(check, wrong, next) : ok(check, found));
  };
  const kind = settings && kinds[settings.tokenKind];
  const others = settingNames.filter((name) => checkOf(name) === "settings" && isGiven(name));
  const list = others.map((name) => `${name} (${sourceOf(name)})`).join(", ");
  add(
    "base URL",
    `${settings?.baseUrl ?? "given"} (${sourceOf("baseUrl")})`,
    `${settingDescriptions.baseUrl.replaceAll("`", "")} For a stack: pulumi config set compute:baseUrl`,
  );
  add(
    "token",
    `${kind ?? "given"} (${sourceOf("apiToken")})`,
    `${settingDescriptions.apiToken.replaceAll("`", "")} For a stack: pulumi config set --secret compute:apiToken`,
  );
  add(
    "settings",
    list ? `${list}; else the defaults` : "the defaults",
    "Correct it where it is set; README.md, Configuration, says what each may be.",
  );
  return settings ? { findings, settings } : { findings };
}

const kinds = {
  live: "live: billing is active",
  test: "test: nothing is billed, instances are ephemeral",
} as const;
