/**
 * Reads the settings of a command from its options, from a stack's configuration and from the environment. `doctor`,
 * `audit` and `import-plan` use it.
 */
import type { Command } from "commander";
import { checkConfig, resolveSettings } from "../config/configuration";
import {
  secretSettings,
  settingDescriptions,
  settingEnvironment,
  settingNames,
  type SettingName,
  type Settings,
} from "../config/settings";
import { tokenFileVariable } from "../config/tokenFile";
import { OperationFailed } from "../errors";
import { propertyMap, type PropertyMap } from "../propertyValue";
import { PulumiError, readConfig } from "./pulumi";
import { count, failed, type Finding, ok, type Terminal, warning } from "./terminal";

/** The help of the option `--stack`. */
export const stackHelp =
  "Read the settings, with the token, from this stack of the Pulumi project in this folder. By default, they come from the stack that is selected in this folder. The options below take precedence over the stack, and the stack over the environment.";

/** The values of the options by the names of the settings. Commander names the option `--base-url` `baseUrl`. */
export type SettingOptions = Partial<Record<SettingName, string>>;

const optionOf = (name: string) =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const descriptionOf = (name: SettingName) => settingDescriptions[name].replaceAll("`", "");

/** The settings that have an option. No secret has one: every program on the machine can read the options. */
const optionNames = settingNames.filter((name) => !secretSettings.has(name));

/** The environment variables that a token may come from. */
const tokenVariables = ["COMPUTE_API_TOKEN", tokenFileVariable];

/** Adds an option for each setting that is not secret, and that is not `unused`, since it has no effect on the command. */
export function addSettingOptions(command: Command, ...unused: readonly SettingName[]): Command {
  for (const name of optionNames.filter((it) => !unused.includes(it))) {
    command.option(`${optionOf(name)} <value>`, descriptionOf(name));
  }
  return command;
}

/** The settings of a command, and where they come from. */
export interface CommandSettings {
  settings: Settings;
  /** The name of the stack with organization and project. Undefined if the settings are not from a stack. */
  stack: string | undefined;
  /** The stack or the environment, for messages. */
  source: string;
}

/**
 * Reads the settings for a command.
 *
 * @throws OperationFailed if settings are missing or wrong. The message has a line for each of them.
 */
export async function readSettings(
  stack: string | undefined,
  options: SettingOptions,
  io: Terminal,
): Promise<CommandSettings> {
  const { findings, found } = await checkSettings(stack, options, io);
  if (found) return found;
  const failedChecks = findings.filter(({ result }) => result === "FAILED");
  throw new OperationFailed(
    failedChecks.flatMap(({ check, found, next }) => [`${check}: ${found}`, `→ ${next}`]),
  );
}

/** Checks the settings as Configure does, and reports where each comes from. Returns the settings if all are valid. */
export async function checkSettings(
  stackOption: string | undefined,
  options: SettingOptions,
  io: Terminal,
): Promise<{ findings: Finding[]; found?: CommandSettings }> {
  const { env } = io;
  const findings: Finding[] = [];
  let stackConfig: PropertyMap = {};
  let stack: string | undefined;
  let source = "the environment";
  try {
    const configOrReason = await readConfig(stackOption, env);
    if (typeof configOrReason === "string") {
      source += `, since ${configOrReason}`;
      findings.push(
        ok("stack", `none: ${configOrReason}, so the settings come from the environment`),
      );
    } else {
      stack = configOrReason.stack;
      stackConfig = configOrReason.config;
      const numberOfSettings = Object.keys(stackConfig).length;
      if (numberOfSettings > 0) source = `stack ${stack}`;
      else source += `, since stack ${stack} has no setting of compute in this folder`;
      findings.push(ok("stack", `${stack}: ${count(numberOfSettings, "setting")} of compute`));
    }
  } catch (error) {
    if (!(error instanceof PulumiError)) throw error;
    return { findings: [failed("stack", error.problem, error.next)] };
  }

  const optionValues = propertyMap(
    Object.fromEntries(optionNames.map((name) => [name, options[name]])),
  );
  // `propertyMap` has dropped the options that were not given.
  const args = propertyMap({ ...stackConfig, ...optionValues });
  const labelOf = (name: string) =>
    Object.hasOwn(optionValues, name) ? optionOf(name) : `compute:${name}`;

  const problems = checkConfig(args, io).failures.map(({ property, reason }) => ({
    // Some failures have no property, for example those of a secret. Then only the reason names the setting.
    check: checkOf(property || /compute:(\w+)/.exec(reason)?.[1]),
    found: property ? `${labelOf(property)}: ${reason}` : reason,
  }));
  for (const name of ["baseUrl", "apiToken"] as const) {
    const variables = name === "apiToken" ? tokenVariables : [settingEnvironment[name] ?? ""];
    if (Object.hasOwn(args, name) || variables.some((variable) => env[variable])) continue;
    const option = secretSettings.has(name) ? [] : [optionOf(name)];
    const places = [...option, ...variables].join(", ");
    const configuration = stack
      ? `stack ${stack} in this folder`
      : "a stack (none is used; --stack NAME names one)";
    const found = `it is not set in ${places} or the configuration of ${configuration}`;
    problems.push({ check: checkOf(name), found });
  }
  const settings = problems.length === 0 ? resolveSettings(args, io) : undefined;

  const sourceOf = (name: SettingName) => {
    if (Object.hasOwn(args, name)) return labelOf(name);
    const isFromFile = name === "apiToken" && settings?.apiTokenFile !== undefined;
    return isFromFile ? `${tokenFileVariable}: ${settings.apiTokenFile}` : settingEnvironment[name];
  };
  const explicitSettings = Object.keys(args)
    .filter((name) => checkOf(name) === "settings")
    .map((name) => `${name} (${labelOf(name)})`);
  const rows = [
    {
      check: "base URL",
      found: `${settings?.baseUrl ?? "it is set"} (${sourceOf("baseUrl")})`,
      next: `${descriptionOf("baseUrl")} For a stack: pulumi config set compute:baseUrl`,
    },
    {
      check: "token",
      found: `${settings ? tokenKindDescriptions[settings.tokenKind] : "it is set"} (${sourceOf("apiToken")})`,
      next: `${descriptionOf("apiToken")} For a stack: pulumi config set --secret compute:apiToken`,
    },
    {
      check: "settings",
      found: [
        ...explicitSettings,
        explicitSettings.length > 0
          ? "the other settings have their defaults"
          : "all have their defaults",
      ].join("; "),
      next: "Correct each of these settings in the place where it is set.",
    },
  ];
  for (const { check, found, next } of rows) {
    const problemsFound = problems.filter((it) => it.check === check).map((it) => it.found);
    findings.push(
      problemsFound.length > 0
        ? failed(check, problemsFound.join("; "), next)
        : check === "token" && typeof stackConfig["apiToken"] === "string"
          ? warning(
              check,
              `${found}, which the stack keeps in clear text`,
              `\`pulumi config set --secret compute:apiToken --stack ${stack}\` asks for the token and encrypts it. If others can read the stack's settings file or its git history, replace the token at the service: the history keeps the old one.`,
            )
          : ok(check, found),
    );
  }
  return settings ? { findings, found: { settings, stack, source } } : { findings };
}

/** Returns the check of `doctor` that a setting belongs to. */
function checkOf(name: string | undefined): string {
  return name === "baseUrl" ? "base URL" : name === "apiToken" ? "token" : "settings";
}

const tokenKindDescriptions = {
  live: "live: billing is active",
  test: "test: nothing is billed, instances are ephemeral",
} as const;
