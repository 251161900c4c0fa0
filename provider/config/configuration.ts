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
import { explicitProvider, isStateless, logicalName } from "../advice";
import { OperationFailed } from "../errors";
import type { Redactor } from "../redaction";
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
export interface SettingsSource {
  env: NodeJS.ProcessEnv;
  redactor: Redactor;
}

/**
 * Returns the settings with the token as a secret, and what is wrong with them. A setting that is missing, or not known
 * yet in a preview (G10), is no failure. The token is hidden in messages from now on.
 */
export function checkConfig(news: PropertyMap, source: SettingsSource): CheckResponse {
  const token = news["apiToken"];
  return {
    // The Node SDK passes the token unencrypted. As a `Secret`, it is encrypted in the state.
    inputs:
      typeof token === "string" ? propertyMap({ ...news, apiToken: new Secret(token) }) : news,
    failures: readSettings(news, source).failures,
  };
}

/**
 * Returns the settings of this run. The token is hidden in messages from now on.
 *
 * @param urn the URN of the provider resource, which decides where a missing setting can be set
 * @throws OperationFailed if settings are wrong, or if required ones are missing or not known yet, with a line for each
 */
export function resolveSettings(args: PropertyMap, source: SettingsSource, urn?: string): Settings {
  const { values, failures, apiTokenFile } = readSettings(args, source);
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
  if (baseUrl === undefined || apiToken === undefined) {
    const missing = (["baseUrl", "apiToken"] as const).filter((name) => values[name] === undefined);
    throw new OperationFailed([
      "the provider lacks settings that it needs:",
      ...missing.map((name) => `  compute:${name}: ${howToSet(name, urn)}`),
    ]);
  }
  return settingsFrom({ ...values, baseUrl, apiToken }, apiTokenFile);
}

/**
 * Returns the places where a missing setting can be set, none of which keeps a token in clear text. The engine's own
 * error for missing settings names a `pulumi config set` that does.
 */
function howToSet(name: "baseUrl" | "apiToken", urn: string | undefined): string {
  const isToken = name === "apiToken";
  const variables = isToken
    ? `${settingEnvironment.apiToken} in the environment, or ${tokenFileVariable} with the path of a file that holds the token`
    : `${settingEnvironment.baseUrl} in the environment`;
  const provider = explicitProvider(urn);
  if (provider !== undefined) {
    const value = isToken ? "a secret of the configuration" : "the address of the service";
    return `set the argument \`${name}\` of the provider "${logicalName(provider)}" to ${value}, or set ${variables}`;
  }
  if (isStateless(urn))
    return `set ${isToken ? "" : "the flag --compute:base-url, or "}${variables}`;
  const command = isToken
    ? "pulumi config set --secret compute:apiToken"
    : "pulumi config set compute:baseUrl https://…/v2";
  return `run \`${command}\`, or set ${variables}`;
}

/** Returns the given and valid values, and a failure for each wrong setting. */
function readSettings(
  args: PropertyMap,
  source: SettingsSource,
): { values: SettingValues; failures: CheckFailure[]; apiTokenFile?: string | undefined } {
  hideTokens(args, source);
  const failures: CheckFailure[] = [];
  for (const key of Object.keys(args)) {
    if ((settingNames as string[]).includes(key)) continue;
    const similarName = closest(key, settingNames);
    const hint = similarName ? `; did you mean compute:${similarName}?` : "";
    // The value may be the token under a wrong name, and the engine prints the value of a property.
    failures.push({
      property: "",
      reason: `compute:${key}: the provider has no such setting${hint}`,
    });
  }
  const values: Partial<Record<SettingName, unknown>> = {};
  let apiTokenFile: string | undefined;
  for (const name of settingNames) {
    const given = args[name];
    if (hasUnknown(given)) continue;
    const isFromArgs = isGiven(given);
    const found: Found = isFromArgs ? { value: reveal(given) } : readEnvironment(name, source);
    if ("problem" in found) {
      const reason = `compute:${name} can't be taken from the environment: ${found.problem}`;
      failures.push({ property: "", reason });
      continue;
    }
    if (found.value === undefined) continue;
    const parsed = settingTypes[name].safeParse(found.value);
    if (parsed.success) {
      values[name] = parsed.data;
      apiTokenFile ??= found.file;
      continue;
    }
    const problem = parsed.error.issues.map((issue) => issue.message).join("; ");
    if (isFromArgs) failures.push(makeFailure(name, given, problem));
    else {
      const reason = `compute:${name} (from ${settingEnvironment[name]}) ${problem}`;
      failures.push({ property: "", reason });
    }
  }
  failures.push(...findConflicts(values as SettingValues, args));
  return { values: values as SettingValues, failures, apiTokenFile };
}

function hideTokens(args: PropertyMap, { env, redactor }: SettingsSource): void {
  for (const token of [...secretStrings(new Secret(args["apiToken"] ?? null)), env["COMPUTE_API_TOKEN"]]) {
    if (token) hideToken(redactor, token);
  }
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

/** Returns a failure for each contradiction. `values` has no value that is wrong or not known yet. */
function findConflicts(values: SettingValues, args: PropertyMap): CheckFailure[] {
  const failures: CheckFailure[] = [];
  const kind = values.apiToken === undefined ? undefined : tokenKindOf(values.apiToken);
  if (values.requireTokenKind && kind && kind !== values.requireTokenKind) {
    failures.push({
      property: "requireTokenKind",
      reason: `a ${values.requireTokenKind} token is required, but the token given is a ${kind} one (${
        kind === "live" ? "billing is active with it" : "its resources are ephemeral"
      }); give a token that starts with ${tokenPrefixes[values.requireTokenKind]}`,
    });
  }
  if (values.deletePolicy === "destroy" && !isGiven(args["destroyPath"])) {
    failures.push({
      property: "deletePolicy",
      reason:
        '"destroy" needs compute:destroyPath, because the service documents no destroy call whose path could be assumed',
    });
  }
  return failures;
}

/** The engine prints the value of a failure's property, so a secret setting is named only in the reason. */
function makeFailure(
  name: SettingName,
  value: PropertyValue | undefined,
  reason: string,
): CheckFailure {
  return secretSettings.has(name) || hasSecret(value) || isToken(value)
    ? { property: "", reason: `compute:${name} ${reason}` }
    : { property: name, reason };
}

/** A token may have been given as the value of the wrong setting. */
function isToken(value: PropertyValue | undefined): boolean {
  return typeof value === "string" && tokenKindOf(value.trim()) !== undefined;
}
