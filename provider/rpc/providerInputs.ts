/** The provider resource's inputs: the settings, and the entries that the engine keeps beside them. */
import { isDeepStrictEqual } from "node:util";
import metadata from "../../metadata.json";
import { isOlder } from "../executable";
import { hasUnknown, propertyMap, reveal, type PropertyMap } from "../propertyValue";
import type { DiffKind, DiffResponse } from "../requests";

const engineEntries = ["version", "pluginDownloadURL", "__internal"];

/** The inputs without the engine's own entries. */
export function omitEngineEntries(inputs: PropertyMap): PropertyMap {
  const entries = Object.entries(inputs).filter(([key]) => !engineEntries.includes(key));
  return propertyMap(Object.fromEntries(entries));
}

/** The checked settings with the engine's entries as the engine sent them: changing one is an error. */
export function withEngineEntries(settings: PropertyMap, sent: PropertyMap): PropertyMap {
  const entries = Object.entries(sent).filter(([key]) => engineEntries.includes(key));
  return propertyMap({ ...settings, ...Object.fromEntries(entries) });
}

/**
 * Which settings differ; an unknown value counts as different. No setting replaces the provider, since
 * the engine would then replace every instance of it (G5).
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
 * A warning where the program's SDK is newer than the plugin; undefined where it is not. The engine runs
 * a plugin of any version that it finds on PATH or in `plugins.providers`, and does not say what to do.
 */
export function newerSdkWarning(
  inputs: PropertyMap,
  { plugin, folder }: { plugin: string; folder: string },
): string | undefined {
  const { version: sdk } = inputs;
  if (typeof sdk !== "string" || !isOlder(plugin, sdk)) return undefined;
  const { name, pluginDownloadURL } = metadata;
  return (
    `the program asks for version ${sdk} of the ${name} plugin, and this one, in ${folder}, is ` +
    `${plugin}: what is new in ${sdk} does not work. Take ${folder} from PATH or from ` +
    `plugins.providers in Pulumi.yaml, and Pulumi uses an installed one: ` +
    `\`pulumi plugin install resource ${name} ${sdk} --server ${pluginDownloadURL}\``
  );
}
