/** The inputs of the provider resource: the settings, and the entries that the engine adds. */
import { isDeepStrictEqual } from "node:util";
import metadata from "../../metadata.json";
import { isOlder } from "../version";
import { hasUnknown, propertyMap, reveal, type PropertyMap } from "../propertyValue";
import type { DiffKind, DiffResponse } from "../requests";

/** The engine adds these entries for its own use. */
const engineEntries = ["version", "pluginDownloadURL", "__internal"];

/** Returns the settings in these inputs. */
export function omitEngineEntries(inputs: PropertyMap): PropertyMap {
  const entries = Object.entries(inputs).filter(([key]) => !engineEntries.includes(key));
  return propertyMap(Object.fromEntries(entries));
}

/** Returns the settings with the engine's entries in `sent`, which CheckConfig has to return unchanged. */
export function withEngineEntries(settings: PropertyMap, sent: PropertyMap): PropertyMap {
  const entries = Object.entries(sent).filter(([key]) => engineEntries.includes(key));
  return propertyMap({ ...settings, ...Object.fromEntries(entries) });
}

/**
 * Returns which settings differ. An unknown value counts as different. No setting replaces the provider resource,
 * because the engine would then replace all its instances, and only an instance's own inputs may do so (G5).
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
 * Returns a warning if the program's SDK is newer than this plugin in `folder`. The engine runs a plugin of any version
 * that it finds on PATH or in `plugins.providers`.
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
