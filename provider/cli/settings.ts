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
import { propertyMap, type PropertyMap } from "../propertyValue";
import { PulumiError, readConfig } from "./pulumi";
import { count, failed, type Finding, ok, type Terminal } from "./terminal";

/** The help of the option `--stack`. */
export const stackHelp =
  "Read the settings, with the token, from this stack of the Pulumi project in this folder. The options below take precedence.";

/** The values of the options, by the names of the settings: commander gives `--base-url` as `baseUrl`. */
export type SettingOptions = Partial<Record<SettingName, string>>;

const optionOf = (name: string) =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const descriptionOf = (name: SettingName) => settingDescriptions[name].replaceAll("`", "");

/** No secret is an option: every program on the machine can read the options of a process. */
const optionNames = settingNames.filter((name) => !secretSettings.has(name));

/** The settings that do not matter to a command that only lists. */
export const unusedForListing = ["deletePolicy", "destroyPath", "leftovers"] as const;

/** Adds an option for each setting that is not secret; the help leaves out the `hidden` ones. */
export function addSettingOptions(command: Command, hidden: readonly SettingName[] = []): Command {
  for (const name of optionNames) {
    const option = new Option(`${optionOf(name)} <value>`, descriptionOf(name));
    command.addOption(option.hideHelp(hidden.includes(name)));
  }
  return command;
}

/**
 * The settings for a command.
 *
 * @throws OperationFailed with everything that is wrong with the settings.
 */
export async function readSettings(
  stack: string | undefined,
  options: SettingOptions,
  io: Terminal,
): Promise<Settings> {
  const { findings, settings } = await checkSettings(stack, options, io);
  if (settings) return settings;
  const wrong = findings.filter(({ result }) => result === "FAILED");
  throw new OperationFailed(
    wrong.flatMap(({ check, found, next }) => [`${check}: ${found}`, `→ ${next}`]),
  );
}

/** Checks the settings as Configure does, and says where each comes from; gives them if all are valid. */
export async function checkSettings(
  stack: string | undefined,
  options: SettingOptions,
  io: Terminal,
): Promise<{ findings: Finding[]; settings?: Settings }> {
  const { env } = io;
  const findings: Finding[] = [];
  let ofStack: PropertyMap = {};
  if (stack !== undefined) {
    try {
      ofStack = await readConfig(stack, env);
    } catch (error) {
      if (!(error instanceof PulumiError)) throw error;
      return { findings: [failed("stack", error.problem, error.next)] };
    }
    const number = Object.keys(ofStack).length;
    findings.push(ok("stack", `${stack}: ${count(number, "setting")} of compute`));
  }
  hideToken(io, ofStack);

  const ofOptions = propertyMap(
    Object.fromEntries(optionNames.map((name) => [name, options[name]])),
  );
  const args = propertyMap({ ...ofStack, ...ofOptions });
  const sourceOf = (name: string) =>
    Object.hasOwn(ofOptions, name) ? optionOf(name) : `compute:${name}`;

  const problems = checkConfig(args, env).failures.map(({ property, reason }) => ({
    // The failure of a secret setting names it in the reason only.
    name: property || /compute:(\w+)/.exec(reason)?.[1],
    found: property ? `${sourceOf(property)}: ${reason}` : reason,
  }));
  const required = ["baseUrl", "apiToken"] as const;
  for (const name of required) {
    const variable = settingEnvironment[name] ?? "";
    if (Object.hasOwn(args, name) || env[variable]) continue;
    const option = secretSettings.has(name) ? "" : `${optionOf(name)}, `;
    const found = `not given: looked for in ${option}${variable} and a stack's configuration (--stack NAME)`;
    problems.push({ name, found });
  }
  const settings = problems.length === 0 ? resolveSettings(args, env) : undefined;

  const addFinding = (
    check: string,
    found: string,
    next: string,
    isOf: (name: unknown) => boolean,
  ) => {
    const reasons = problems.filter(({ name }) => isOf(name)).map((problem) => problem.found);
    findings.push(reasons.length > 0 ? failed(check, reasons.join("; "), next) : ok(check, found));
  };
  for (const name of required) {
    const source = Object.hasOwn(args, name) ? sourceOf(name) : settingEnvironment[name];
    const secretFlag = secretSettings.has(name) ? "--secret " : "";
    const values = { baseUrl: settings?.baseUrl, apiToken: settings && kinds[settings.tokenKind] };
    addFinding(
      name === "baseUrl" ? "base URL" : "token",
      `${values[name] ?? "given"} (${source})`,
      `${descriptionOf(name)} For a stack: pulumi config set ${secretFlag}compute:${name}`,
      (it) => it === name,
    );
  }
  const isOther = (name: unknown) => name !== "baseUrl" && name !== "apiToken";
  const given = Object.keys(args).filter(isOther);
  addFinding(
    "settings",
    given.length > 0
      ? `${given.map((name) => `${name} (${sourceOf(name)})`).join(", ")}; the others have their defaults`
      : "the defaults",
    "Correct each of them where it is set.",
    isOther,
  );
  return settings ? { findings, settings } : { findings };
}

const kinds = {
  live: "live: billing is active",
  test: "test: nothing is billed, instances are ephemeral",
} as const;
