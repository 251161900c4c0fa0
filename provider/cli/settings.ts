/** The settings of a command: from its options, a stack's configuration and the environment. */
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
import { propertyMap } from "../propertyValue";
import { PulumiError, readConfig, type StackConfig } from "./pulumi";
import { count, failed, type Finding, ok, type Terminal, warning } from "./terminal";

/** The help of the option `--stack`. */
export const stackHelp =
  "Read the settings, with the token, from this stack of the Pulumi project in this folder. By default, they come from the stack that is selected in this folder. The options below take precedence over the stack, and the stack over the environment.";

/** Collects the values of an option that can be given several times. */
export const repeatable = (value: string, others: string[] = []) => [...others, value];

/** The values of the options by the names of the settings. Commander names the option `--base-url` `baseUrl`. */
export type SettingOptions = Partial<Record<SettingName, string>>;

const optionOf = (name: string) =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const descriptionOf = (name: SettingName) => settingDescriptions[name].replaceAll("`", "");

/** The settings that have an option. No secret has one: every program on the machine can read the options. */
const optionNames = settingNames.filter((name) => !secretSettings.has(name));

/** Adds an option for each setting that is not secret, and not `unused` by the command. */
export function addSettingOptions(command: Command, ...unused: readonly SettingName[]): Command {
  for (const name of optionNames.filter((it) => !unused.includes(it))) {
    command.option(`${optionOf(name)} <value>`, descriptionOf(name));
  }
  return command;
}

/** The settings of a command, and where they come from. */
export interface CommandSettings {
  settings: Settings;
  /** The name of the stack with organization and project. Undefined if no stack is used. */
  stack: string | undefined;
  /** The stack or the environment, for messages. */
  source: string;
}

/** @throws OperationFailed if settings are missing or wrong. The message has a line for each of them. */
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

/** The places of the required settings other than a stack. The token has no option. */
const requiredPlaces = {
  baseUrl: ["--base-url", "COMPUTE_BASE_URL"],
  apiToken: ["COMPUTE_API_TOKEN", tokenFileVariable],
} as const;

const checkOf = (name: string | undefined) =>
  name === "baseUrl" ? "base URL" : name === "apiToken" ? "token" : "settings";

const tokenKindDescriptions = {
  live: "live: billing is active",
  test: "test: nothing is billed, instances are ephemeral",
} as const;

/** Checks the settings as Configure does, and reports where each comes from. `found` is undefined if one is wrong. */
export async function checkSettings(
  stackOption: string | undefined,
  options: SettingOptions,
  io: Terminal,
): Promise<{ findings: Finding[]; found?: CommandSettings }> {
  let stackConfig: StackConfig;
  try {
    stackConfig = await readConfig(stackOption, io.env);
  } catch (error) {
    if (!(error instanceof PulumiError)) throw error;
    return { findings: [failed("stack", error.problem, error.next)] };
  }
  const { stack, config, whyNone } = stackConfig;
  const size = Object.keys(config).length;
  const whyEnvironment =
    whyNone ?? (size === 0 ? `stack ${stack} has no setting of compute in this folder` : undefined);
  const stackFinding = whyNone
    ? `none: ${whyNone}, so the settings come from the environment`
    : `${stack}: ${count(size, "setting")} of compute`;

  // `propertyMap` drops the options that were not given.
  const given = propertyMap(Object.fromEntries(optionNames.map((name) => [name, options[name]])));
  const args = propertyMap({ ...config, ...given });
  const labelOf = (name: string) =>
    Object.hasOwn(given, name) ? optionOf(name) : `compute:${name}`;

  const problems = checkConfig(args, io).failures.map(({ property, reason }) => ({
    // A failure without a property, for example of a secret, names the setting only in its reason.
    check: checkOf(property || /compute:(\w+)/.exec(reason)?.[1]),
    found: property ? `${labelOf(property)}: ${reason}` : reason,
  }));
  for (const [name, places] of Object.entries(requiredPlaces)) {
    if (Object.hasOwn(args, name) || places.some((place) => io.env[place])) continue;
    const configuration = stack
      ? `stack ${stack} in this folder`
      : "a stack (none is used; --stack NAME names one)";
    const found = `it is not set in ${places.join(", ")} or the configuration of ${configuration}`;
    problems.push({ check: checkOf(name), found });
  }
  const settings = problems.length === 0 ? resolveSettings(args, io) : undefined;

  const sourceOf = (name: SettingName) => {
    if (Object.hasOwn(args, name)) return labelOf(name);
    const file = name === "apiToken" ? settings?.apiTokenFile : undefined;
    return file === undefined ? settingEnvironment[name] : `${tokenFileVariable}: ${file}`;
  };
  const explicit = Object.keys(args)
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
      found:
        explicit.length > 0
          ? [...explicit, "the other settings have their defaults"].join("; ")
          : "all have their defaults",
      next: "Correct each of these settings in the place where it is set.",
    },
  ];
  const findings = rows.map(({ check, found, next }) => {
    const itsProblems = problems.filter((it) => it.check === check).map((it) => it.found);
    if (itsProblems.length > 0) return failed(check, itsProblems.join("; "), next);
    if (check !== "token" || typeof config["apiToken"] !== "string") return ok(check, found);
    return warning(
      check,
      `${found}, which the stack keeps in clear text`,
      `\`pulumi config set --secret compute:apiToken --stack ${stack}\` asks for the token and encrypts it. If others can read the stack's settings file or its git history, replace the token at the service: the history keeps the old one.`,
    );
  });
  findings.unshift(ok("stack", stackFinding));
  const source = whyEnvironment ? `the environment, since ${whyEnvironment}` : `stack ${stack}`;
  return settings ? { findings, found: { settings, stack, source } } : { findings };
}
