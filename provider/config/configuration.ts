/** Reads the settings from the engine's configuration and the environment, and checks them. */
import { closest } from "../closest";
import {
  hasUnknown,
  propertyMap,
  reveal,
  Secret,
  secretStrings,
  type PropertyMap,
  type PropertyValue,
} from "../propertyValue";
import { configCommands } from "../advice";
import { explicitProvider, isStateless, logicalName } from "../urn";
import { OperationFailed } from "../errors";
import { outputTextProblem } from "../outputText";
import type { Redactor } from "../redaction";
import type { CheckResponse } from "../calls";
import { tokenKindOf, tokenPrefixes } from "../api/serviceConstants";
import {
  settingEnvironment,
  settingNames,
  settingsFrom,
  settingTypes,
  type SettingName,
  type Settings,
  type SettingValues,
  type SettingVariables,
} from "./settings";
import { hideToken, readTokenFile, tokenFileVariable } from "./tokenFile";

/** The environment that settings are read from, and the redactor that hides the token in messages (G8). */
export interface SettingsSource {
  env: NodeJS.ProcessEnv;
  redactor: Redactor;
}

/** What is wrong with a setting: a clause about it, such as "must be true or false", which quotes no value (G8). */
interface SettingProblem {
  /** The name of the setting, or of something that is no setting. */
  setting: string;
  problem: string;
}

/**
 * Returns the settings with the token as a secret, and what is wrong with them. A setting that is missing, or not known
 * yet in a preview (G10), is no failure. The token is hidden in messages from now on.
 */
export function checkConfig(news: PropertyMap, source: SettingsSource): CheckResponse {
  // The engine prints the value of the property that a failure names, and any setting may hold a secret by mistake, such as
  // the password in an address (G8). So only the reason names the setting.
  const failures = settingProblems(news, source).map((problem) => ({
    property: "",
    reason: say(problem),
  }));
  const { apiToken } = news;
  if (typeof apiToken !== "string") return { inputs: news, failures };
  // The Node SDK passes the token unencrypted. As a `Secret`, it is encrypted in the state.
  return { inputs: propertyMap({ ...news, apiToken: new Secret(apiToken) }), failures };
}

/** Returns what is wrong with the settings, as `checkConfig` does. The token is hidden in messages from now on. */
export function settingProblems(args: PropertyMap, source: SettingsSource): SettingProblem[] {
  return readSettings(args, source).problems;
}

function say({ setting, problem }: SettingProblem): string {
  return `compute:${setting} ${problem}`;
}

/**
 * Returns the settings of this run. The token is hidden in messages from now on.
 *
 * @param urn the URN of the provider resource, which decides where a missing setting can be set
 * @throws OperationFailed if settings are wrong, or if required ones are missing or not known yet, with a line for each
 */
export function resolveSettings(args: PropertyMap, source: SettingsSource, urn?: string): Settings {
  const { values, problems } = readSettings(args, source);
  if (problems.length > 0) {
    throw new OperationFailed([
      "the provider's configuration can't be used:",
      ...problems.map((problem) => `  ${say(problem)}`),
      "Correct each setting in the place where it is set, and run again.",
    ]);
  }
  const { baseUrl, apiToken } = values;
  if (baseUrl !== undefined && apiToken !== undefined) {
    return settingsFrom({ ...values, baseUrl, apiToken });
  }
  const missing = (["baseUrl", "apiToken"] as const).filter((name) => values[name] === undefined);
  throw new OperationFailed([
    "the provider lacks settings that it needs:",
    ...missing.map((name) => `  compute:${name}: ${whereToSet(name, urn)}`),
  ]);
}

/**
 * The places where a missing setting can be set. The engine's own error for missing settings names a command that keeps the
 * token in clear text.
 */
const places = {
  baseUrl: {
    value: "the address of the service",
    flag: "the flag --compute:base-url, or ",
    command: `${configCommands.baseUrl} https://…/v2`,
    variables: `${settingEnvironment.baseUrl} in the environment`,
  },
  apiToken: {
    value: "a secret of the configuration",
    flag: "",
    command: configCommands.apiToken,
    variables: `${settingEnvironment.apiToken} in the environment, or ${tokenFileVariable} with the path of a file that holds the token`,
  },
};

function whereToSet(name: keyof typeof places, urn: string | undefined): string {
  const { value, flag, command, variables } = places[name];
  if (isStateless(urn)) return `set ${flag}${variables}`;
  const provider = explicitProvider(urn);
  return provider === undefined
    ? `run \`${command}\`, or set ${variables}`
    : `set the argument \`${name}\` of the provider "${logicalName(provider)}" to ${value}, or set ${variables}`;
}

/** Returns the given and valid values, and a problem for each wrong setting. */
function readSettings(
  args: PropertyMap,
  source: SettingsSource,
): { values: SettingValues; problems: SettingProblem[] } {
  // The SDKs of some languages do not mark the token as a secret.
  const tokens = secretStrings(new Secret(args["apiToken"] ?? null));
  for (const token of [...tokens, source.env["COMPUTE_API_TOKEN"] ?? ""]) {
    hideToken(source.redactor, token);
  }
  const problems: SettingProblem[] = [];
  const refuse = (setting: string, problem: string) => void problems.push({ setting, problem });
  for (const key of Object.keys(args)) {
    if ((settingNames as string[]).includes(key)) continue;
    const similarName = closest(key, settingNames);
    const hint = similarName ? `; did you mean compute:${similarName}?` : "";
    refuse(key, `is no setting of the provider${hint}`);
  }
  const values: { [K in keyof SettingValues]?: unknown } = {};
  for (const name of settingNames) {
    const given = args[name];
    if (hasUnknown(given)) continue;
    const isFromArgs = isGiven(given);
    const found: Found = isFromArgs ? { value: reveal(given) } : readEnvironment(name, source);
    if ("problem" in found) {
      refuse(name, `can't be taken from the environment: ${found.problem}`);
      continue;
    }
    if (found.value === undefined) continue;
    const outputText = typeof found.value === "string" && outputTextProblem(found.value);
    if (outputText) {
      refuse(name, outputText);
      continue;
    }
    const { error, data } = settingTypes[name].safeParse(found.value);
    if (error === undefined) {
      values[name] = data;
      if (found.file !== undefined) values.apiTokenFile = found.file;
      continue;
    }
    const problem = error.issues.map((issue) => issue.message).join("; ");
    refuse(name, isFromArgs ? problem : `(from ${settingEnvironment[name]}) ${problem}`);
  }
  refuseConflicts(values as SettingValues, { args, env: source.env }, refuse);
  return { values: values as SettingValues, problems };
}

/** Returns the environment variables that settings come from, because the configuration leaves these settings out. */
export function settingVariables(args: PropertyMap, env: NodeJS.ProcessEnv): SettingVariables {
  const used = settingNames.flatMap((name) => {
    const variable = isGiven(args[name]) ? undefined : variableOf(name, env);
    return variable === undefined ? [] : [[name, variable]];
  });
  return Object.fromEntries(used) as SettingVariables;
}

/** Returns the variable that holds a setting, or the path of its file. An empty variable counts as not set. */
function variableOf(name: SettingName, env: NodeJS.ProcessEnv): string | undefined {
  const variables = [name === "apiToken" ? tokenFileVariable : undefined, settingEnvironment[name]];
  return variables.find((variable) => variable !== undefined && env[variable]);
}

/** The value of a setting, with the path of its file if it has one, or the reason why it can't be read. */
type Found = { value: unknown; file?: string } | { problem: string };

/** Reads a setting from its environment variable, or the token from its file. */
function readEnvironment(name: SettingName, { env, redactor }: SettingsSource): Found {
  const variable = settingEnvironment[name];
  // An empty variable counts as not set.
  const value = (variable && env[variable]) || undefined;
  const file = (name === "apiToken" && env[tokenFileVariable]) || undefined;
  if (file === undefined) return { value };
  const content = readTokenFile(file, redactor);
  if ("problem" in content) return content;
  if (value !== undefined && value !== content.token) {
    return {
      problem: `${variable} and the file of ${tokenFileVariable} (${file}) hold different tokens; unset one of the two variables`,
    };
  }
  return { value: content.token, file };
}

/** A null counts as left out. */
function isGiven(value: PropertyValue | undefined): value is PropertyValue {
  return value !== undefined && reveal(value) !== null;
}

/** Refuses settings that contradict each other. `values` has no value that is wrong or not known yet. */
function refuseConflicts(
  { apiToken = "", requireTokenKind: required, deletePolicy }: SettingValues,
  { args, env }: { args: PropertyMap; env: NodeJS.ProcessEnv },
  refuse: (setting: SettingName, problem: string) => void,
): void {
  const kind = tokenKindOf(apiToken);
  if (required && kind && kind !== required) {
    const tokenPlace = settingVariables(args, env).apiToken ?? "compute:apiToken";
    const meaning = kind === "live" ? "billing is active with it" : "its resources are ephemeral";
    refuse(
      "requireTokenKind",
      `is "${required}", but the token in ${tokenPlace} is a ${kind} one (${meaning}); give one there that starts with ${tokenPrefixes[required]}`,
    );
  }
  if (deletePolicy === "destroy" && !isGiven(args["destroyPath"])) {
    refuse(
      "deletePolicy",
      'is "destroy", which needs compute:destroyPath, because the service documents no destroy call whose path could be assumed',
    );
  }
}
