/** The provider resource's own inputs, and what the engine keeps among them for itself. */
import { isDeepStrictEqual } from "node:util";
import { hasUnknown, reveal, type PropertyMap, type PropertyValue } from "../propertyValue";

const internals = ["version", "pluginDownloadURL", "__internal"];

/** Without the engine's own entries: the settings. */
export function forProvider(inputs: PropertyMap): PropertyMap {
  return select(inputs, (key) => !internals.includes(key));
}

/** The provider's answer with the engine's own entries as they came: changing one is an error. */
export function withInternals(inputs: PropertyMap, sent: PropertyMap): PropertyMap {
  const kept = select(sent, (key) => internals.includes(key));
  return Object.assign(Object.create(null) as PropertyMap, inputs, kept);
}

/** Names of the settings that differ. What is not known yet may differ. */
export function changedSettings(
  olds: PropertyMap,
  news: PropertyMap,
): { name: string; kind: "add" | "delete" | "update" }[] {
  const names = new Set([...Object.keys(olds), ...Object.keys(news)]);
  return [...names].flatMap((name) => {
    const [before, after] = [olds[name], news[name]];
    if (same(before, after)) return [];
    const kind = before === undefined ? "add" : after === undefined ? "delete" : "update";
    return [{ name, kind } as const];
  });
}

function same(before: PropertyValue | undefined, after: PropertyValue | undefined): boolean {
  if (before === undefined || after === undefined) return before === after;
  if (hasUnknown(before) || hasUnknown(after)) return false;
  return isDeepStrictEqual(reveal(before), reveal(after));
}

function select(map: PropertyMap, test: (key: string) => boolean): PropertyMap {
  const result = Object.create(null) as Record<string, PropertyValue>;
  for (const [key, value] of Object.entries(map)) if (test(key)) result[key] = value;
  return result;
}
