/** Reads the settings from the engine's configuration and the environment, and checks them. */
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

/** Redacts the token from now on (G8). To be called before the settings are used in any other way. */
export function hideToken(
  { redactor, env }: { redactor: Redactor; env: NodeJS.ProcessEnv },
  settings: PropertyMap,
): void {
  for (const token of [...secretTexts(settings["apiToken"], true), env["COMPUTE_API_TOKEN"]]) {
    if (!token) continue;
    redactor.hide(token);
    // The beginning tells the kind of the token, which is no secret.
    redactor.hideParts(token.trim().replace(/^sk_[a-z]+_/, ""));
  }
}

/** CheckConfig: names every setting that is wrong. A setting that is not known yet is not judged (G10). */
export function checkConfig(news: PropertyMap, env: NodeJS.ProcessEnv): CheckResponse {
  const token = news["apiToken"];
  return {
    // The Node SDK hands a token over in clear; wrapped, it is encrypted in the state (G8).
    inputs:
      typeof token === "string" ? propertyMap({ ...news, apiToken: new Secret(token) }) : news,
    failures: readSettings(news, env).failures,
  };
}

/**
 * Configure: the settings of this run. The environment stands in for what the configuration leaves out.
 *
 * @throws OperationFailed for a setting that is wrong, MissingSettings for a required one that is missing
 */
export function resolveSettings(args: PropertyMap, env: NodeJS.ProcessEnv): Settings {
  const { values, failures } = readSettings(args, env);
  if (failures.length > 0) {
    const list = failures.map(({ property, reason }) =>
      property ? `  compute:${property}: ${reason}` : `  ${reason}`,
    );
    throw new OperationFailed([
      "the provider's configuration can't be used:",
      ...list,
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

/** The engine adds a `pulumi config set` of its own, which would store a token in clear. */
function howToSet(name: "baseUrl" | "apiToken"): string {
  const safely = secretSettings.has(name)
    ? `A secret: use \`pulumi config set --secret compute:${name}\` or ${settingEnvironment[name]}. `
    : "";
  return `${safely}${settingDescriptions[name]} For a provider resource of the program: its argument \`${name}\`.`;
}

function readSettings(
  args: PropertyMap,
  env: NodeJS.ProcessEnv,
): { values: SettingValues; failures: CheckFailure[] } {
  const failures: CheckFailure[] = [];
  for (const key of Object.keys(args)) {
    if ((settingNames as string[]).includes(key)) continue;
    const near = closest(key, settingNames);
    const guess = near ? `; did you mean compute:${near}?` : "";
    // The value may be the token under a wrong name, so the engine must not print it (G8).
    const reason = `compute:${key}: the provider has no such setting${guess}`;
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

/** A null is a setting left out. */
function isGiven(value: PropertyValue | undefined): value is PropertyValue {
  return value !== undefined && reveal(value) !== null;
}

/** Settings that contradict each other. A value that is wrong or not known yet is left out. */
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

/** The engine prints the value beside the property's name, so a secret is named in the reason (G9). */
function makeFailure(
  name: SettingName,
  value: PropertyValue | undefined,
  reason: string,
): CheckFailure {
  return secretSettings.has(name) || hasSecret(value) || isToken(value)
    ? { property: "", reason: `compute:${name} ${reason}` }
    : { property: name, reason };
}

/** Whether it is a token, which may be given as the value of a wrong setting. */
function isToken(value: PropertyValue | undefined): boolean {
  return typeof value === "string" && tokenKindOf(value.trim()) !== undefined;
}
