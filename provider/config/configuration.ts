/** From what the engine and the environment give to the settings in force, or to what is wrong with them. */
import { closest } from "../closest";
import {
  hasSecret,
  hasUnknown,
  propertyMap,
  reveal,
  Secret,
  type PropertyMap,
  type PropertyValue,
} from "../propertyValue";
import { MissingSettings, OperationFailed } from "../errors";
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

/** CheckConfig: every setting that is wrong, each named; what is not known yet is left for later (G10). */
export function checkConfig(news: PropertyMap, env: NodeJS.ProcessEnv): CheckResponse {
  const { values, failures } = read(news, env);
  failures.push(...conflicts(values, news));
  const inputs = propertyMap(news);
  const token = inputs["apiToken"];
  return {
    // The Node SDK hands a token over in clear; wrapped, it is encrypted in the state (G8).
    inputs:
      typeof token === "string" ? propertyMap({ ...inputs, apiToken: new Secret(token) }) : inputs,
    failures,
  };
}

/** Configure: the settings in force. The environment stands in for what the configuration leaves out. */
export function resolveSettings(args: PropertyMap, env: NodeJS.ProcessEnv): Settings {
  const { values, failures } = read(args, env);
  failures.push(...conflicts(values, args));
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

/** The engine adds a `pulumi config set` of its own, which would keep a token in clear. */
function howToSet(name: "baseUrl" | "apiToken"): string {
  const safely = secretSettings.has(name)
    ? `A secret: use \`pulumi config set --secret compute:${name}\` or ${settingEnvironment[name]}. `
    : "";
  return `${safely}${settingDescriptions[name]} For a provider resource of the program: its argument \`${name}\`.`;
}

function read(
  args: PropertyMap,
  env: NodeJS.ProcessEnv,
): { values: SettingValues; failures: CheckFailure[] } {
  const failures: CheckFailure[] = [];
  const values: Partial<Record<SettingName, unknown>> = {};
  for (const key of Object.keys(args)) {
    if (!(settingNames as string[]).includes(key)) {
      const near = closest(key, settingNames);
      const guess = near ? `; did you mean compute:${near}?` : "";
      // It may be the token under a wrong name, which is encrypted by its right name only (G8).
      failures.push({
        property: "",
        reason: `compute:${key}: the provider has no such setting${guess}`,
      });
    }
  }
  for (const name of settingNames) {
    const given = args[name];
    if (hasUnknown(given)) continue;
    const fromEnv = settingEnvironment[name];
    const value = isGiven(given) ? reveal(given) : fromEnv && (env[fromEnv] || undefined);
    if (value === undefined) continue;
    const parsed = settingTypes[name].safeParse(value);
    if (parsed.success) values[name] = parsed.data;
    else {
      const where = isGiven(given) ? undefined : `${fromEnv} (environment)`;
      const reason = parsed.error.issues.map((issue) => issue.message).join("; ");
      failures.push(failure(name, given, where ? `${where} ${reason}` : reason));
    }
  }
  return { values: values as SettingValues, failures };
}

/** A null is a setting left out. */
function isGiven(value: PropertyValue | undefined): value is PropertyValue {
  return value !== undefined && reveal(value) !== null;
}

/** What can't be true together; a value that is wrong or not known yet is judged on its own. */
function conflicts(values: SettingValues, args: PropertyMap): CheckFailure[] {
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

/** G9: the engine prints the value beside the property's name, so a secret one is named in the reason. */
function failure(
  name: SettingName,
  value: PropertyValue | undefined,
  reason: string,
): CheckFailure {
  return secretSettings.has(name) || hasSecret(value) || isToken(value)
    ? { property: "", reason: `compute:${name} ${reason}` }
    : { property: name, reason };
}

/** The token given as another setting's value. */
function isToken(value: PropertyValue | undefined): boolean {
  return typeof value === "string" && tokenKindOf(value.trim()) !== undefined;
}
