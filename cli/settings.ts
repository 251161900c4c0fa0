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
  settingEnvironment,
  type SettingName,
  type Settings,
  type SettingVariables,
} from "../provider/config/settings";
import { tokenFileVariable } from "../provider/config/tokenFile";
import { propertyMap, type PropertyMap } from "../provider/propertyValue";
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

const checkOf = (name: string) =>
  name === "baseUrl" || name === "apiToken" ? required[name].check : "settings";

const tokenKindDescriptions = {
  live: "live: billing is active",
  test: "test: nothing is billed, instances are ephemeral",
} as const;

/** Settings without a problem. */
export interface FoundSettings {
  readonly settings: Settings;
  /** The environment variables from which some of them come. */
  readonly variables: SettingVariables;
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
  const { stack } = stackConfig;
  const typed = new TypedSettings(options, stackConfig, io);
  const problems = typed.problems();
  const settings = problems.length === 0 ? resolveSettings(typed.args, io) : undefined;
  const findingOf = (check: string, found: string, next: string): Finding => {
    const why = problems.filter((known) => known.check === check).map(({ problem }) => problem);
    return why.length > 0 ? failed(check, why.join("; "), next) : ok(check, found);
  };
  const findingOfRequired = (name: keyof typeof required, value = "it is set") =>
    findingOf(
      required[name].check,
      `${value} (${typed.placeOf(name)})`,
      `${descriptionOf(name)} For a stack: ${inStack(configCommands[name], stackOption)}`,
    );
  const kind = settings && tokenKindDescriptions[settings.tokenKind];
  const findings = [
    ok("stack", typed.describeStack()),
    findingOfRequired("baseUrl", settings?.baseUrl),
    typed.warnOfClearText(findingOfRequired("apiToken", kind)),
    findingOf(
      "settings",
      typed.describeOptional(),
      "Correct each of these settings in the place where it is set.",
    ),
  ];
  if (!settings) return { findings, stack };
  const variables = settingVariables(typed.args, io.env);
  return { findings, stack, found: { settings, variables, stack, source: typed.source } };
}

/** The settings that a person has typed: as options of the command, for the stack, or in the environment. */
class TypedSettings {
  /** The settings of the options and of the stack. */
  readonly args: PropertyMap;
  readonly #given: PropertyMap;
  readonly #stackConfig: StackConfig;
  readonly #io: Terminal;

  constructor(options: SettingOptions, stackConfig: StackConfig, io: Terminal) {
    // `propertyMap` drops the options that were not given.
    this.#given = propertyMap(Object.fromEntries(optionNames.map((name) => [name, options[name]])));
    this.args = propertyMap({ ...stackConfig.config, ...this.#given });
    this.#stackConfig = stackConfig;
    this.#io = io;
  }

  /** Returns what is wrong with the settings, and the label of the check that says so. */
  problems(): { check: string; problem: string }[] {
    const wrong = settingProblems(this.args, this.#io).map(({ setting, problem }) => ({
      check: checkOf(setting),
      problem: `${this.#labelOf(setting)} ${problem}`,
    }));
    const { stack, whyNone } = this.#stackConfig;
    const configuration = stack
      ? `stack ${stack} in this folder`
      : `a stack (none is used: ${whyNone})`;
    const missing = Object.entries(required)
      .filter(
        ([name, { places }]) => !(name in this.args || places.some((place) => this.#io.env[place])),
      )
      .map(([, { check, places }]) => ({
        check,
        problem: `it is not set in ${places.join(", ")} or the configuration of ${configuration}`,
      }));
    return [...wrong, ...missing];
  }

  #labelOf(name: string): string {
    return name in this.#given ? optionOf(name) : `compute:${name}`;
  }

  /** Returns where a required setting comes from. */
  placeOf(name: keyof typeof required): string {
    if (name in this.args) return this.#labelOf(name);
    const file = name === "apiToken" && this.#io.env[tokenFileVariable];
    return file ? `${tokenFileVariable}: ${file}` : `${settingEnvironment[name]}`;
  }

  describeStack(): string {
    const { stack, whyNone, config } = this.#stackConfig;
    if (whyNone) return `none: ${whyNone}, so the settings come from the environment`;
    return `${stack}: ${count(Object.keys(config).length, "setting")} of compute`;
  }

  /** Names the settings that need not be given, and have been. */
  describeOptional(): string {
    const explicit = Object.keys(this.args)
      .filter((name) => checkOf(name) === "settings")
      .map((name) => `${name} (${this.#labelOf(name)}); `);
    return `${explicit.join("")}${explicit.length > 0 ? "the other settings" : "all"} have their defaults`;
  }

  /** Returns the finding about the token, or a warning if it is fine, but not a secret of the stack. */
  warnOfClearText(token: Finding): Finding {
    const { stack, config } = this.#stackConfig;
    if (token.result !== "ok" || typeof config["apiToken"] !== "string") return token;
    return warning(
      "token",
      `${token.found}, which the stack keeps in clear text`,
      `\`${inStack(configCommands.apiToken, stack)}\` asks for the token and encrypts it. If others can read the stack's settings file or its git history, replace the token at the service: the history keeps the old one.`,
    );
  }

  /** Where the address and the token come from, for messages. */
  get source(): string {
    const { stack } = this.#stackConfig;
    const places = [this.placeOf("baseUrl"), this.placeOf("apiToken")];
    const ofStack = places.some((place) => place.startsWith("compute:")) ? ` of ${stack}` : "";
    return places.join(", ") + ofStack;
  }
}
