/** Reads the settings from the engine's configuration and the environment, and checks them. */
import { closest } from "../closest";
import {
  hasSecret,
  hasUnknown,
  propertyMap,
  reveal,
  Secret,
  secretStrings,
  type PropertyMap,
  type PropertyValue,
} from "../propertyValue";
import { configCommands, explicitProvider, isStateless, logicalName } from "../advice";
import { OperationFailed } from "../errors";
import type { ProviderContext } from "../context";
import type { CheckFailure, CheckResponse } from "../requests";
import { tokenKindOf, tokenPrefixes } from "../api/serviceConstants";
import {
  secretSettings,
  settingEnvironment,
  settingNames,
  settingsFrom,
  settingTypes,
  type SettingName,
  type Settings,
  type SettingValues,
} from "./settings";
import { hideToken, readTokenFile, tokenFileVariable } from "./tokenFile";

/** The environment that settings are read from, and the redactor that hides the token in messages (G8). */
export type SettingsSource = Pick<ProviderContext, "env" | "redactor">;

/**
 * Returns the settings with the token as a secret, and what is wrong with them. A setting that is missing, or not known
 * yet in a preview (G10), is no failure. The token is hidden in messages from now on.
 */
export function checkConfig(news: PropertyMap, source: SettingsSource): CheckResponse {
  const { failures } = readSettings(news, source);
  const { apiToken } = news;
  if (typeof apiToken !== "string") return { inputs: news, failures };
  // The Node SDK passes the token unencrypted. As a `Secret`, it is encrypted in the state.
  return { inputs: propertyMap({ ...news, apiToken: new Secret(apiToken) }), failures };
}

/**
 * Returns the settings of this run. The token is hidden in messages from now on.
 *
 * @param urn the URN of the provider resource, which decides where a missing setting can be set
 * @throws OperationFailed if settings are wrong, or if required ones are missing or not known yet, with a line for each
 */
export function resolveSettings(args: PropertyMap, source: SettingsSource, urn?: string): Settings {
  const { values, failures } = readSettings(args, source);
  if (failures.length > 0) {
    const lines = failures.map(({ property, reason }) =>
      property ? `  compute:${property}: ${reason}` : `  ${reason}`,
    );
    throw new OperationFailed([
      "the provider's configuration can't be used:",
      ...lines,
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
    ...missing.map((name) => `  compute:${name}: ${howToSet(name, urn)}`),
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

function howToSet(name: keyof typeof places, urn: string | undefined): string {
  const { value, flag, command, variables } = places[name];
  if (isStateless(urn)) return `set ${flag}${variables}`;
  const provider = explicitProvider(urn);
  return provider === undefined
    ? `run \`${command}\`, or set ${variables}`
    : `set the argument \`${name}\` of the provider "${logicalName(provider)}" to ${value}, or set ${variables}`;
}

/** Returns the given and valid values, and a failure for each wrong setting. */
function readSettings(
  args: PropertyMap,
  source: SettingsSource,
): { values: SettingValues; failures: CheckFailure[] } {
  // The SDKs of some languages do not mark the token as a secret.
  const tokens = secretStrings(new Secret(args["apiToken"] ?? null));
  for (const token of [...tokens, source.env["COMPUTE_API_TOKEN"] ?? ""]) {
    hideToken(source.redactor, token);
  }
  const failures: CheckFailure[] = [];
  /** The engine prints the value of a failure's property. So `property` stays empty if the value may be a secret. */
  const refuse = (reason: string, property = "") => void failures.push({ property, reason });
  for (const key of Object.keys(args)) {
    if ((settingNames as string[]).includes(key)) continue;
    const similarName = closest(key, settingNames);
    const hint = similarName ? `; did you mean compute:${similarName}?` : "";
    // The value may be the token under a wrong name.
    refuse(`compute:${key}: the provider has no such setting${hint}`);
  }
  const values: { [K in keyof SettingValues]?: unknown } = {};
  for (const name of settingNames) {
    const given = args[name];
    if (hasUnknown(given)) continue;
    const isFromArgs = isGiven(given);
    const found: Found = isFromArgs ? { value: reveal(given) } : readEnvironment(name, source);
    if ("problem" in found) {
      refuse(`compute:${name} can't be taken from the environment: ${found.problem}`);
      continue;
    }
    if (found.value === undefined) continue;
    const { error, data } = settingTypes[name].safeParse(found.value);
    const problem = error?.issues.map((issue) => issue.message).join("; ");
    if (problem === undefined) {
      values[name] = data;
      if (found.file !== undefined) values.apiTokenFile = found.file;
    } else if (!isFromArgs) {
      refuse(`compute:${name} (from ${settingEnvironment[name]}) ${problem}`);
    } else if (secretSettings.has(name) || hasSecret(given) || isToken(given)) {
      refuse(`compute:${name} ${problem}`);
    } else refuse(problem, name);
  }
  refuseConflicts(values as SettingValues, args, refuse);
  return { values: values as SettingValues, failures };
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

/** A token may have been given as the value of the wrong setting. */
function isToken(value: PropertyValue): boolean {
  return typeof value === "string" && tokenKindOf(value.trim()) !== undefined;
}

/** Refuses settings that contradict each other. `values` has no value that is wrong or not known yet. */
function refuseConflicts(
  { apiToken = "", requireTokenKind: required, deletePolicy }: SettingValues,
  args: PropertyMap,
  refuse: (reason: string, property: SettingName) => void,
): void {
  const kind = tokenKindOf(apiToken);
  if (required && kind && kind !== required) {
    const meaning = kind === "live" ? "billing is active with it" : "its resources are ephemeral";
    refuse(
      `a ${required} token is required, but the token given is a ${kind} one (${meaning}); give a token that starts with ${tokenPrefixes[required]}`,
      "requireTokenKind",
    );
  }
  if (deletePolicy === "destroy" && !isGiven(args["destroyPath"])) {
    refuse(
      '"destroy" needs compute:destroyPath, because the service documents no destroy call whose path could be assumed',
      "deletePolicy",
    );
  }
}
