/** The inputs of the provider resource: the settings, and the entries that the engine adds. */
import { isDeepStrictEqual } from "node:util";
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
