/** The inputs of the provider resource: the settings, and the entries that the engine adds. */
import { isDeepStrictEqual } from "node:util";
import metadata from "../../metadata.json";
import { isOlder } from "../version";
import { hasUnknown, propertyMap, reveal, type PropertyMap } from "../pulumi/propertyValue";
import type { DiffKind } from "../pulumi/names";
import type { DiffResponse } from "../pulumi/calls";

/** Separates the settings from the other entries, which CheckConfig has to return. */
export function splitInputs(inputs: PropertyMap): { settings: PropertyMap; own: PropertyMap } {
  const { version, pluginDownloadURL, __internal, ...settings } = inputs;
  return {
    settings: propertyMap(settings),
    own: propertyMap({ version, pluginDownloadURL, __internal }),
  };
}

/**
 * Returns which settings differ. An unknown value counts as different. No setting replaces the provider resource,
 * because the engine would then replace all its instances, and only an instance's own inputs may do so (G5).
 */
export function diffSettings(oldInputs: PropertyMap, newInputs: PropertyMap): DiffResponse {
  const { settings: olds } = splitInputs(oldInputs);
  const { settings: news } = splitInputs(newInputs);
  const detailed: Record<string, DiffKind> = {};
  for (const name of Object.keys({ ...olds, ...news })) {
    const [before, after] = [olds[name], news[name]];
    if (before === undefined) detailed[name] = "add";
    else if (after === undefined) detailed[name] = "delete";
    else if (hasUnknown(after) || !isDeepStrictEqual(reveal(before), reveal(after))) {
      detailed[name] = "update";
    }
  }
  return { detailed, deleteBeforeReplace: false };
}

/**
 * Returns a warning if the program's SDK is newer than this plugin in `folder`. The engine runs a plugin of any version
 * that it finds on PATH or in `plugins.providers`.
 */
export function newerSdkWarning(
  { version: sdkVersion }: PropertyMap,
  { pluginVersion, folder }: { pluginVersion: string; folder: string },
): string | undefined {
  if (typeof sdkVersion !== "string" || !isOlder(pluginVersion, sdkVersion)) return undefined;
  const { name, pluginDownloadURL } = metadata;
  return (
    `the program asks for version ${sdkVersion} of the ${name} plugin, but the plugin in ${folder}, which ` +
    `Pulumi uses, is ${pluginVersion}: what is new in ${sdkVersion} does not work. Remove ${folder} from PATH ` +
    `or from plugins.providers in Pulumi.yaml, and install the plugin that the program asks for: ` +
    `\`pulumi plugin install resource ${name} ${sdkVersion} --server ${pluginDownloadURL}\``
  );
}
