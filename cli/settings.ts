/** The settings of a command: its options for them, and their check. */
import { type Command, Option } from "commander";
import { configCommands, inStack } from "../provider/advice";
import {
  resolveSettings,
  settingProblems,
  settingVariables,
} from "../provider/config/configuration";
import {
  settingDescriptions,
  type SettingName,
  type Settings,
  type SettingVariables,
} from "../provider/config/settings";
import { tokenFileVariable } from "../provider/config/tokenFile";
import { propertyMap } from "../provider/pulumi/propertyValue";
import { readConfig, type StackConfig } from "./pulumi";
import {
  asProblem,
  count,
  failed,
  type Finding,
  ok,
  Problem,
  type Terminal,
  warning,
} from "./terminal";

/** The help of the option `--stack`. */
export const stackHelp = "Use the settings of this stack.";

/** The values of the options by the names of the settings. Commander turns `--base-url` into `baseUrl`. */
export type SettingOptions = Partial<Record<(typeof optionNames)[number], string>>;

const optionOf = (name: string) =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const descriptionOf = (name: SettingName) => settingDescriptions[name].replaceAll("`", "");

/**
 * The settings that have an option: those that change how a listing is obtained, and what it proves. No secret has one, because
 * every program on the machine can read the options.
 */
const optionNames = [
  "baseUrl",
  "requireTokenKind",
  "cursorParameter",
  "requestsPerMinute",
  "requestTimeoutSeconds",
  "pollIntervalSeconds",
  "settlingSeconds",
  "validateCredentials",
] as const satisfies readonly SettingName[];

/**
 * Adds these options (those with `...` can be given several times), and one for each of the settings above. The help only
 * names the latter: nearly nobody needs one, and a page describes them all.
 */
export function addOptions(command: Command, options: Readonly<Record<string, string>>): Command {
  const collect = (value: string, others: string[] = []) => [...others, value];
  for (const [flags, description] of Object.entries(options)) {
    if (flags.includes("...")) command.option(flags.replace("...", ""), description, collect);
    else command.option(flags, description);
  }
  for (const name of optionNames) {
    command.addOption(new Option(`${optionOf(name)} <value>`).hideHelp());
  }
  const names = command.createHelp().boxWrap(optionNames.map(optionOf).join(", "), 76);
  const heading = "Settings of the provider, with a value each (docs/configure.md):";
  return command.addHelpText("after", `\n${heading}\n${names.replace(/^/gm, "  ")}`);
}

/** Returns the words of the options that were given for settings, to type them once more. */
export function givenOptions(options: SettingOptions): string[] {
  return optionNames.flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [optionOf(name), value];
  });
}

/** The code of an error whose message is ours and may be printed. Commander's repeat what was typed (G8). */
export const wrongCommandLine = "compute.wrongCommandLine";

/**
 * Ends the command with exit code 2.
 *
 * @throws CommanderError with this message
 */
export function commandLineError(command: Command, message: string): never {
  return command.error(message, { code: wrongCommandLine });
}

/** For each required setting: the label of its check, and where it is set outside of a stack. */
const required = {
  baseUrl: { check: "base URL", places: ["--base-url", "COMPUTE_BASE_URL"] },
  apiToken: { check: "token", places: ["COMPUTE_API_TOKEN", tokenFileVariable] },
} as const;
type RequiredName = keyof typeof required;
const requiredNames = ["baseUrl", "apiToken"] as const;

const checkOf = (name: string) =>
  name === "baseUrl" || name === "apiToken" ? required[name].check : "settings";

const tokenKindDescriptions = {
  live: "live: billing is active",
  test: "test: nothing is billed, instances are ephemeral",
} as const;

/** Settings without a problem. */
export interface FoundSettings {
  readonly settings: Settings;
  /** The environment variables and options from which some of them come. */
  readonly variables: SettingVariables;
  /** The names of those, but the address and the token, that the stack or an option gives. The others have their defaults. */
  readonly given: readonly string[];
  /** The name of the stack with organization and project. Undefined if no stack is used. */
  readonly stack: string | undefined;
  /** Where the address and the token come from, for messages. */
  readonly source: string;
}

/**
 * Checks the settings as Configure does, and reports where each comes from. `found` is undefined if a finding is
 * FAILED, and `stack` if no stack is used.
 */
export async function checkSettings(
  options: SettingOptions,
  stackOption: string | undefined,
  io: Terminal,
): Promise<{ findings: Finding[]; found?: FoundSettings; stack?: string | undefined }> {
  const stackConfig = await readConfig(stackOption, io.env).catch(asProblem);
  if (stackConfig instanceof Problem)
    return { findings: [failed("stack", stackConfig.found, stackConfig.next)] };
  const { stack, whyNone, config } = stackConfig;
  // `propertyMap` drops the options that were not given.
  const given = propertyMap(Object.fromEntries(optionNames.map((name) => [name, options[name]])));
  const args = propertyMap({ ...config, ...given });
  const fromOptions = Object.fromEntries(Object.keys(given).map((name) => [name, optionOf(name)]));
  const variables: SettingVariables = { ...settingVariables(args, io.env), ...fromOptions };
  const labelOf = (name: string) => fromOptions[name] ?? `compute:${name}`;
  const placeOf = (name: RequiredName) => placeOfVariable(variables[name], io.env) ?? labelOf(name);
  const missing = requiredNames.filter((name) => !(name in args || variables[name]));
  const problems = [
    ...settingProblems(args, io),
    ...missing.map((setting) => ({ setting, problem: whyMissing(setting, stackConfig) })),
  ];
  const settings = problems.length === 0 ? resolveSettings(args, io) : undefined;

  const findingOf = (check: string, found: string, next: string): Finding => {
    const own = problems.filter(({ setting }) => checkOf(setting) === check);
    const why = own.map(({ setting, problem }) => `${labelOf(setting)} ${problem}`).join("; ");
    return why === "" ? ok(check, found) : failed(check, why, next);
  };
  const requiredFinding = (name: RequiredName, value = "it is set") => {
    const next = `${descriptionOf(name)} For a stack: ${inStack(configCommands[name], stackOption)}`;
    return findingOf(required[name].check, `${value} (${placeOf(name)})`, next);
  };
  const others = Object.keys(args).filter((name) => checkOf(name) === "settings");
  const defaults = others.length > 0 ? "the other settings have" : "all have";
  const token = requiredFinding("apiToken", settings && tokenKindDescriptions[settings.tokenKind]);
  const findings = [
    ok(
      "stack",
      whyNone
        ? `none: ${whyNone}, so the settings come from the environment`
        : `${stack}: ${count(Object.keys(config).length, "setting")} of compute`,
    ),
    requiredFinding("baseUrl", settings?.baseUrl),
    typeof config["apiToken"] === "string" ? warnOfClearText(token, stack) : token,
    findingOf(
      "settings",
      `${others.map((name) => `${name} (${labelOf(name)}); `).join("")}${defaults} their defaults`,
      "Correct each of these settings in the place where it is set.",
    ),
  ];
  if (!settings) return { findings, stack };
  const places = requiredNames.map(placeOf);
  const ofStack = places.some((place) => place.startsWith("compute:")) ? ` of ${stack}` : "";
  const source = places.join(", ") + ofStack;
  return { findings, stack, found: { settings, variables, given: others, stack, source } };
}

/** Names an environment variable, and the file of the token if it names one. */
const placeOfVariable = (variable: string | undefined, env: NodeJS.ProcessEnv) =>
  variable === tokenFileVariable ? `${variable}: ${env[variable]}` : variable;

function whyMissing(name: RequiredName, { stack, whyNone }: StackConfig): string {
  const configuration = stack
    ? `stack ${stack} in this folder`
    : `a stack (none is used: ${whyNone})`;
  return `is not set in ${required[name].places.join(", ")} or the configuration of ${configuration}`;
}

/** Returns a warning about a token that is fine, but not a secret of the stack. */
function warnOfClearText(token: Finding, stack: string | undefined): Finding {
  if (token.result !== "ok") return token;
  return warning(
    "token",
    `${token.found}, which the stack keeps in clear text`,
    `\`${inStack(configCommands.apiToken, stack)}\` asks for the token and encrypts it. If others can read the stack's settings file or its git history, replace the token at the service: the history keeps the old one.`,
  );
}
