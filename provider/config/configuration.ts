/**
 * Reads the settings from the engine's configuration and the environment, and checks them. `provider.ts` uses this
 * file for CheckConfig and Configure, and the commands of the plugin use it too.
 */
import { closest } from "../closest";
import {
  hasSecret,
  hasUnknown,
  propertyMap,
  reveal,
  Secret,
  secretTexts,
  type PropertyMap,
  type PropertyValue,
} from "../propertyValue";
import { MissingSettings, OperationFailed } from "../errors";
import type { Redactor } from "../redaction";
import type { CheckFailure, CheckResponse } from "../requests";
import { tokenKindOf, tokenPrefixes } from "../api/serviceConstants";
import {
  secretSettings,
  settingDescriptions,
  settingEnvironment,
  settingNames,
  settingsFrom,
  settingTypes,
  type SettingName,
  type Settings,
  type SettingValues,
} from "./settings";

/**
 * From now on, messages are shown without the token, because secrets stay secret (G8). This function must be called
 * before the settings are used in any other way.
 */
export function hideToken(
  { redactor, env }: { redactor: Redactor; env: NodeJS.ProcessEnv },
  settings: PropertyMap,
): void {
  for (const token of [...secretTexts(settings["apiToken"], true), env["COMPUTE_API_TOKEN"]]) {
    if (!token) continue;
    redactor.hide(token);
    // The prefix is left out: it only says which kind of token this is, which is not a secret.
    redactor.hideParts(token.trim().replace(/^sk_[a-z]+_/, ""));
  }
}

/**
 * Returns the settings with the token as a secret, and what is wrong with the settings, for CheckConfig. A setting
 * that is not known yet is not checked, so that a preview works without it (G10). A missing setting is no failure.
 */
export function checkConfig(news: PropertyMap, env: NodeJS.ProcessEnv): CheckResponse {
  const token = news["apiToken"];
  return {
    // The Node SDK passes the token unencrypted. As a `Secret`, it is encrypted in the state.
    inputs:
      typeof token === "string" ? propertyMap({ ...news, apiToken: new Secret(token) }) : news,
    failures: readSettings(news, env).failures,
  };
}

/**
 * Returns the settings of this run, for Configure. A setting that the configuration leaves out is read from the
 * environment, if it has a variable.
 *
 * @throws OperationFailed if a setting is wrong. The message has a line for each.
 * @throws MissingSettings if a required setting is missing or not known yet
 */
export function resolveSettings(args: PropertyMap, env: NodeJS.ProcessEnv): Settings {
  const { values, failures } = readSettings(args, env);
  if (failures.length > 0) {
    const lines = failures.map(({ property, reason }) =>
      property ? `  compute:${property}: ${reason}` : `  ${reason}`,
    );
    throw new OperationFailed([
      "the provider's configuration can't be used:",
      ...lines,
      "Fix it with `pulumi config set`, and run again.",
    ]);
  }
  const { baseUrl, apiToken } = values;
  if (baseUrl === undefined || apiToken === undefined) {
    const missing = (["baseUrl", "apiToken"] as const).filter((name) => values[name] === undefined);
    throw new MissingSettings(
      missing.map((name) => ({ name: `compute:${name}`, description: howToSet(name) })),
    );
  }
  return settingsFrom({ ...values, baseUrl, apiToken });
}

/**
 * Returns the description of a missing setting, and how to set it. The engine prints a `pulumi config set` of its
 * own beside the description, and that command would store a token unencrypted.
 */
function howToSet(name: "baseUrl" | "apiToken"): string {
  const secretAdvice = secretSettings.has(name)
    ? `A secret: use \`pulumi config set --secret compute:${name}\` or ${settingEnvironment[name]}. `
    : "";
  return `${secretAdvice}${settingDescriptions[name]} For a provider resource of the program: its argument \`${name}\`.`;
}

/** Returns the values of the settings that are given and right, and what is wrong with the others. */
function readSettings(
  args: PropertyMap,
  env: NodeJS.ProcessEnv,
): { values: SettingValues; failures: CheckFailure[] } {
  const failures: CheckFailure[] = [];
  for (const key of Object.keys(args)) {
    if ((settingNames as string[]).includes(key)) continue;
    const similarName = closest(key, settingNames);
    const hint = similarName ? `; did you mean compute:${similarName}?` : "";
    // The value may be the token under a wrong name. With a property, the engine would print the value.
    const reason = `compute:${key}: the provider has no such setting${hint}`;
    failures.push({ property: "", reason });
  }
  const values: Partial<Record<SettingName, unknown>> = {};
  for (const name of settingNames) {
    const given = args[name];
    if (hasUnknown(given)) continue;
    const variable = settingEnvironment[name];
    const value = isGiven(given) ? reveal(given) : variable && (env[variable] || undefined);
    if (value === undefined) continue;
    const parsed = settingTypes[name].safeParse(value);
    if (parsed.success) {
      values[name] = parsed.data;
    } else {
      const reason = parsed.error.issues.map((issue) => issue.message).join("; ");
      failures.push(
        isGiven(given)
          ? makeFailure(name, given, reason)
          : { property: "", reason: `compute:${name} (from ${variable}) ${reason}` },
      );
    }
  }
  failures.push(...findConflicts(values as SettingValues, args));
  return { values: values as SettingValues, failures };
}

/** Whether the setting is given. A null counts as left out. */
function isGiven(value: PropertyValue | undefined): value is PropertyValue {
  return value !== undefined && reveal(value) !== null;
}

/** Returns the settings that contradict each other. `values` has no value that is wrong or not known yet. */
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
        'is "destroy", which needs compute:destroyPath: the service documents no destroy call, so its path can\'t be assumed',
    });
  }
  return failures;
}

/**
 * Makes a failure. The engine prints the value of a failure's property, so a secret setting is named only in the
 * reason.
 */
function makeFailure(
  name: SettingName,
  value: PropertyValue | undefined,
  reason: string,
): CheckFailure {
  return secretSettings.has(name) || hasSecret(value) || isToken(value)
    ? { property: "", reason: `compute:${name} ${reason}` }
    : { property: name, reason };
}

/** Whether the value is a token, which may have been given as the value of the wrong setting. */
function isToken(value: PropertyValue | undefined): boolean {
  return typeof value === "string" && tokenKindOf(value.trim()) !== undefined;
}
