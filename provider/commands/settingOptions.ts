/** The settings for a command: from its options, from a stack's configuration, from the environment. */
import { hideToken } from "../config/hideToken";
import { settingDescriptions, type Settings } from "../config/settings";
import { OperationFailed } from "../errors";
import { propertyMap, type PropertyMap } from "../property/value";
import type { Given, Option, Terminal } from "./command";
import type { Finding } from "./finding";
import { readStack } from "./pulumi/config";
import { examineSettings, flagNames, flagOf } from "./settings";

export const stackOption = {
  type: "string",
  value: "NAME",
  help: "Read the settings of this stack of the Pulumi project here, the token among them. What is given below wins over it.",
} as const satisfies Option;

export const settingOptions = Object.fromEntries(
  flagNames.map((name): [string, Option] => [
    flagOf(name),
    { type: "string", value: "VALUE", help: settingDescriptions[name].replaceAll("`", "") },
  ]),
);

export function settingFlags(values: Given["values"]): PropertyMap {
  return propertyMap(Object.fromEntries(flagNames.map((name) => [name, values[flagOf(name)]])));
}

/** Rejects with all that is wrong with them. */
export async function settingsFor(
  stack: string | undefined,
  { values }: Given,
  by: Terminal,
): Promise<Settings> {
  const { env } = by;
  const read = stack === undefined ? undefined : await readStack(stack, env);
  if (read) refuseFailed([read.finding]);
  const ofStack = read?.settings ?? propertyMap({});
  hideToken(by, ofStack);
  const { findings, settings } = examineSettings({
    flags: settingFlags(values),
    stack: ofStack,
    env,
  });
  refuseFailed(findings);
  if (!settings) throw new Error("settings that are not good were not told of");
  return settings;
}

function refuseFailed(findings: readonly Finding[]): void {
  const lines = findings.flatMap((finding) =>
    finding.result === "FAILED" ? [`${finding.check}: ${finding.found}`, `→ ${finding.next}`] : [],
  );
  if (lines.length > 0) throw new OperationFailed(lines);
}
