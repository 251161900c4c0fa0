/**
 * Handles the inputs of the provider resource: the settings, and the entries that the engine adds. `service.ts` uses
 * this file for CheckConfig, DiffConfig and Configure.
 */
import { isDeepStrictEqual } from "node:util";
import metadata from "../../metadata.json";
import { isOlder } from "../version";
import { hasUnknown, propertyMap, reveal, type PropertyMap } from "../propertyValue";
import type { DiffKind, DiffResponse } from "../requests";

/** The keys of the entries that are not settings. The engine adds them for its own use. */
const engineEntries = ["version", "pluginDownloadURL", "__internal"];

/** Returns the settings in these inputs, without the entries that the engine adds. */
export function omitEngineEntries(inputs: PropertyMap): PropertyMap {
  const entries = Object.entries(inputs).filter(([key]) => !engineEntries.includes(key));
  return propertyMap(Object.fromEntries(entries));
}

/** Returns the settings with the entries that the engine added to `sent`. CheckConfig has to return them unchanged. */
export function withEngineEntries(settings: PropertyMap, sent: PropertyMap): PropertyMap {
  const entries = Object.entries(sent).filter(([key]) => engineEntries.includes(key));
  return propertyMap({ ...settings, ...Object.fromEntries(entries) });
}

/**
 * Returns which settings differ. An unknown value counts as different. No change of a setting replaces the
 * provider resource, because the engine would then replace every instance of the provider. Only a changed input
 * of an instance may replace the instance (G5).
 */
export function diffSettings(oldInputs: PropertyMap, newInputs: PropertyMap): DiffResponse {
  const [olds, news] = [omitEngineEntries(oldInputs), omitEngineEntries(newInputs)];
  const detailed: Record<string, DiffKind> = {};
  for (const name of new Set([...Object.keys(olds), ...Object.keys(news)])) {
    const [before, after] = [olds[name], news[name]];
    if (before === undefined) detailed[name] = "add";
    else if (after === undefined) detailed[name] = "delete";
    else if (hasUnknown(before) || hasUnknown(after) || !isSame(before, after)) {
      detailed[name] = "update";
    }
  }
  return { detailed, deleteBeforeReplace: false };
}

function isSame(before: PropertyMap[string], after: PropertyMap[string]): boolean {
  return isDeepStrictEqual(reveal(before), reveal(after));
}

/**
 * Returns a warning if the program's SDK is newer than this plugin in `folder`, and undefined if it is not. The
 * engine runs a plugin of any version that it finds on PATH or in `plugins.providers`, and does not say what to
 * do if the version is too old.
 */
export function newerSdkWarning(
  inputs: PropertyMap,
  { pluginVersion, folder }: { pluginVersion: string; folder: string },
): string | undefined {
  const { version: sdkVersion } = inputs;
  if (typeof sdkVersion !== "string" || !isOlder(pluginVersion, sdkVersion)) return undefined;
  const { name, pluginDownloadURL } = metadata;
  return (
    `the program asks for version ${sdkVersion} of the ${name} plugin, but the plugin in ${folder}, which ` +
    `Pulumi uses, is ${pluginVersion}: what is new in ${sdkVersion} does not work. Remove ${folder} from PATH ` +
    `or from plugins.providers in Pulumi.yaml, and install the plugin that the program asks for: ` +
    `\`pulumi plugin install resource ${name} ${sdkVersion} --server ${pluginDownloadURL}\``
  );
}
