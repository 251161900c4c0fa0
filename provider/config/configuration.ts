/** Reads the settings from the engine's configuration and the environment, and checks them. */
import { closest } from "../closest";
import {
  hasUnknown,
  isGiven,
  propertyMap,
  reveal,
  Secret,
  secretStrings,
  type PropertyMap,
} from "../pulumi/propertyValue";
import { afterChange, configCommands, stackPlaces, type SettingPlaces } from "../advice";
import { logicalName } from "../pulumi/urn";
import { OperationFailed } from "../errors";
import { outputTextProblem } from "../pulumi/outputText";
import type { Redactor } from "../redaction";
import type { CheckResponse } from "../pulumi/calls";
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
  const problems = settingProblems(news, source);
  const failures = problems.map((problem) => say(problem, stackPlaces));
  const { apiToken } = news;
  if (typeof apiToken !== "string") return { inputs: news, failures };
  // The Node SDK passes the token unencrypted. As a `Secret`, it is encrypted in the state.
  return { inputs: propertyMap({ ...news, apiToken: new Secret(apiToken) }), failures };
}

/** Returns what is wrong with the settings, as `checkConfig` does. The token is hidden in messages from now on. */
export function settingProblems(args: PropertyMap, source: SettingsSource): SettingProblem[] {
  return readSettings(args, source).problems;
}

function say({ setting, problem }: SettingProblem, places: SettingPlaces): string {
  return `compute:${setting}${afterChange(setting, places)} ${problem}`;
}

/**
 * Returns the settings of this run. The token is hidden in messages from now on.
 *
 * @param places what decides where a missing setting can be set
 * @throws OperationFailed if settings are wrong, or if required ones are missing or not known yet, with a line for each
 */
export function resolveSettings(
  args: PropertyMap,
  source: SettingsSource,
  places = stackPlaces,
): Settings {
  const { values, problems } = readSettings(args, source);
  if (problems.length > 0) {
    throw new OperationFailed({
      own: "the provider's configuration can't be used",
      shared: [
        ":",
        ...problems.map((problem) => `  ${say(problem, places)}`),
        "Correct each setting in the place where it is set, and run again.",
      ],
    });
  }
  const { baseUrl, apiToken } = values;
  if (baseUrl !== undefined && apiToken !== undefined) {
    return settingsFrom({ ...values, baseUrl, apiToken });
  }
  const missing = (["baseUrl", "apiToken"] as const).filter((name) => values[name] === undefined);
  throw new OperationFailed({
    own: "the provider lacks settings that it needs",
    shared: [":", ...missing.map((name) => `  compute:${name}: ${whereToSet(name, places)}`)],
  });
}

/**
 * Says where a missing setting can be set. The engine's own error for missing settings names a command that keeps the token in
 * clear text.
 */
function whereToSet(name: "baseUrl" | "apiToken", places: SettingPlaces): string {
  const { providerUrn, engine } = places;
  const isToken = name === "apiToken";
  const orFile = `, or ${tokenFileVariable} with the path of a file that holds the token`;
  const variables = `${settingEnvironment[name]} in the environment${isToken ? orFile : ""}`;
  if (engine.kind === "stateless")
    return `set ${isToken ? "" : "the flag --compute:base-url, or "}${variables}`;
  const then = afterChange(name, places);
  const value = isToken ? "a secret of the configuration" : "the address of the service";
  return providerUrn === undefined
    ? `run \`${configCommands[name]}${isToken ? "" : " https://…/v2"}\`${then}, or set ${variables}`
    : `set the argument \`${name}\` of the provider "${logicalName(providerUrn)}" to ${value}${then}, or set ${variables}`;
}

/** The given and valid values, and a problem for each wrong setting. */
interface CheckedSettings {
  values: SettingValues;
  problems: SettingProblem[];
}

function readSettings(args: PropertyMap, source: SettingsSource): CheckedSettings {
  const { env, redactor } = source;
  // The SDKs of some languages do not mark the token as a secret.
  const tokens = secretStrings(new Secret(args["apiToken"] ?? null));
  for (const token of [...tokens, env["COMPUTE_API_TOKEN"] ?? ""]) hideToken(redactor, token);
  const values: SettingValues = {};
  const problems = unknownSettings(args);
  for (const name of settingNames) {
    const given = args[name];
    if (hasUnknown(given)) continue;
    const read = isGiven(given) ? checkValue(name, reveal(given)) : readVariable(name, source);
    if ("problem" in read) problems.push({ setting: name, problem: read.problem });
    else Object.assign(values, read.values);
  }
  problems.push(...conflicts(values, args, env));
  return { values, problems };
}

/** What other providers call the two settings that each of them needs. */
const otherWords: Readonly<Record<string, SettingName>> = {
  token: "apiToken",
  apiKey: "apiToken",
  url: "baseUrl",
  endpoint: "baseUrl",
};

function unknownSettings(args: PropertyMap): SettingProblem[] {
  const unknown = Object.keys(args).filter((key) => !(settingNames as string[]).includes(key));
  return unknown.map((setting) => {
    const similar = closest(setting, [...settingNames, ...Object.keys(otherWords)]);
    const hint = similar ? `; did you mean compute:${otherWords[similar] ?? similar}?` : "";
    return { setting, problem: `is no setting of the provider${hint}` };
  });
}

/** The checked value of a setting, or what is wrong with it. */
type CheckedValue = { values: SettingValues } | { problem: string };

function checkValue(name: SettingName, value: unknown): CheckedValue {
  const outputText = typeof value === "string" && outputTextProblem(value);
  if (outputText) return { problem: outputText };
  const { error, data } = settingTypes[name].safeParse(value);
  if (error === undefined) return { values: { [name]: data } };
  return { problem: error.issues.map((issue) => issue.message).join("; ") };
}

/** Reads from the environment, or from the file of the token, a setting that the configuration leaves out. */
function readVariable(name: SettingName, { env, redactor }: SettingsSource): CheckedValue {
  const variable = variableOf(name, env);
  if (variable === undefined) return { values: {} };
  const value = env[variable] ?? "";
  if (variable !== tokenFileVariable) {
    const checked = checkValue(name, value);
    return "problem" in checked ? { problem: `(from ${variable}) ${checked.problem}` } : checked;
  }
  const content = readTokenFile(value, redactor);
  return "problem" in content
    ? { problem: notFromEnvironment(content.problem) }
    : { values: { apiToken: content.token, apiTokenFile: value } };
}

function notFromEnvironment(why: string): string {
  return `can't be taken from the environment: ${why}`;
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

/** Returns which settings contradict each other. `values` has no value that is wrong or not known yet. */
function conflicts(
  { apiToken = "", apiTokenFile, requireTokenKind: required, deletePolicy }: SettingValues,
  args: PropertyMap,
  env: NodeJS.ProcessEnv,
): SettingProblem[] {
  const found: SettingProblem[] = [];
  const other = env["COMPUTE_API_TOKEN"];
  if (apiTokenFile !== undefined && other && other !== apiToken) {
    const why = `COMPUTE_API_TOKEN and the file of ${tokenFileVariable} (${apiTokenFile}) hold different tokens; unset one of the two variables`;
    found.push({ setting: "apiToken", problem: notFromEnvironment(why) });
  }
  const kind = tokenKindOf(apiToken);
  if (required && kind && kind !== required) {
    const tokenPlace = settingVariables(args, env).apiToken ?? "compute:apiToken";
    const meaning = kind === "live" ? "billing is active with it" : "its resources are ephemeral";
    const problem = `is "${required}", but the token in ${tokenPlace} is a ${kind} one (${meaning}); give one there that starts with ${tokenPrefixes[required]}`;
    found.push({ setting: "requireTokenKind", problem });
  }
  if (deletePolicy === "destroy" && !isGiven(args["destroyPath"])) {
    const problem =
      'is "destroy", which needs compute:destroyPath, because the service documents no destroy call whose path could be assumed';
    found.push({ setting: "deletePolicy", problem });
  }
  return found;
}
