/** The settings for a command: from its options, from a stack's configuration, from the environment. */
import { type Command, Option } from "commander";
import { hideToken } from "../config/hideToken";
import { settingDescriptions, type SettingName, type Settings } from "../config/settings";
import { OperationFailed } from "../errors";
import { propertyMap, type PropertyMap } from "../property/value";
import type { Finding } from "./finding";
import { readStack } from "./pulumi/config";
import { examineSettings, flagNames, flagOf } from "./settings";
import type { Terminal } from "./terminal";

export const stackHelp =
  "Read the settings of this stack of the Pulumi project here, the token among them. What is given below wins over it.";

/** Commander gives their values under the names of the settings: `--base-url` as `baseUrl`. */
export type SettingOptions = Partial<Record<SettingName, string>>;

/** Those of `unused` change nothing for the command: it takes them, and its help leaves them out. */
export function addSettingOptions(command: Command, unused: readonly SettingName[] = []): Command {
  for (const name of flagNames) {
    const description = settingDescriptions[name].replaceAll("`", "");
    const option = new Option(`--${flagOf(name)} <value>`, description);
    command.addOption(option.hideHelp(unused.includes(name)));
  }
  return command;
}

export function settingFlags(options: SettingOptions): PropertyMap {
  return propertyMap(Object.fromEntries(flagNames.map((name) => [name, options[name]])));
}

/** Rejects with all that is wrong with them. */
export async function settingsFor(
  stack: string | undefined,
  options: SettingOptions,
  by: Terminal,
): Promise<Settings> {
  const { env } = by;
  const read = stack === undefined ? undefined : await readStack(stack, env);
  if (read) refuseFailed([read.finding]);
  const ofStack = read?.settings ?? propertyMap({});
  hideToken(by, ofStack);
  const { findings, settings } = examineSettings({
    flags: settingFlags(options),
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
